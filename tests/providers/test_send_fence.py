"""No byte of a request is written after `send_by`, and what was not written says so."""

from __future__ import annotations

import socket
import struct
import time

import pytest

from providers.contract import Ended, Failed, Fault
from providers.http import Http, Limits, Reply, Request, open_http
from tests.providers.loops import anyio_backend  # noqa: F401 - both loops
from tests.providers.scripted import answering, raw_server, reply


class _Clock:
    """A clock the test sets; it can jump at its n-th reading, as if the process had been stopped there."""

    def __init__(self) -> None:
        self.now = 100.0
        self.readings = 0
        self.jump_at: int | None = None

    def __call__(self) -> float:
        self.readings += 1
        if self.readings == self.jump_at:
            self.now += 10.0
        return self.now


def _closed(answer: Reply | Failed) -> bool:
    return answer == Failed(
        Fault.NOT_SENT, "send_window_closed", getattr(answer, "detail", ""), ended=Ended.YES
    )


def _post(url: str, send_by: float) -> Request:
    return Request("POST", url, 5, body=b"x" * 2000, send_by=send_by)


async def test_within_the_window_it_is_sent() -> None:
    clock = _Clock()
    async with raw_server(answering(reply())) as server, open_http(clock=clock) as http:
        assert isinstance(await http.send(_post(server.url, 101.0)), Reply)


async def test_a_closed_window_does_not_even_connect() -> None:
    async with raw_server(answering(reply())) as server, open_http(clock=_Clock()) as http:
        assert _closed(await http.send(_post(server.url, 100.0)))
    assert server.connections == 0


@pytest.mark.parametrize("reused", [False, True])
async def test_a_process_stopped_between_grant_and_write_writes_nothing(reused: bool) -> None:
    """The clock jumps at its last reading before the write: on a new connection, and on a kept-alive one."""
    clock = _Clock()
    async with raw_server(answering(reply())) as server, open_http(clock=clock) as http:
        if reused:
            await http.send(_post(server.url, 101.0))
        before = server.bytes_in
        clock.readings, clock.jump_at = 0, 2
        assert _closed(await http.send(_post(server.url, 101.0)))
        await server.until_closed()
        assert server.bytes_in == before
        assert server.connections == 1


async def test_the_connection_of_an_unsent_request_is_closed() -> None:
    clock = _Clock()
    clock.jump_at = 2
    async with raw_server(answering(reply())) as server, open_http(clock=clock) as http:
        assert _closed(await http.send(_post(server.url, 101.0)))
        await server.until_closed()


async def test_connecting_ends_with_the_window(http: Http) -> None:
    """A server that accepts late: the connection comes after the window, and nothing is written to it."""
    with socket.socket() as listener, socket.socket() as filler, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        for taken in (filler, second):
            taken.setblocking(False)
            taken.connect_ex(address)
        began = time.monotonic()
        answer = await http.send(_post(f"http://127.0.0.1:{address[1]}", began + 0.3))
        assert _closed(answer)
        assert 0.25 < time.monotonic() - began < 2.0
        assert _all_bytes_sent_to(listener) == b""


async def test_a_late_accept_gets_no_byte() -> None:
    """The connection is made in time, the window closes before the write; only later the server looks."""
    clock = _Clock()

    async with open_http(clock=clock, limits=Limits(connect_s=1.0)) as http:
        with socket.create_server(("127.0.0.1", 0), backlog=8) as listener:
            clock.jump_at = 2
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert _closed(await http.send(_post(url, 101.0)))
            assert _all_bytes_sent_to(listener) == b""


async def test_once_the_first_byte_is_written_the_rest_follows() -> None:
    """The fence is for the first byte: a body in several pieces is not cut in the middle."""
    clock = _Clock()
    async with raw_server(answering(reply())) as server, open_http(clock=clock) as http:
        clock.jump_at = 3
        large = Request("POST", server.url, 5, body=b"x" * 900_000, send_by=101.0)
        assert isinstance(await http.send(large), Reply)
        assert len(server.requests[0].body) == 900_000


def _all_bytes_sent_to(listener: socket.socket) -> bytes:
    """Accept whatever is waiting and read it to the end."""
    listener.settimeout(0.3)
    received = b""
    while True:
        try:
            peer, _ = listener.accept()
        except TimeoutError:
            return received
        with peer:
            peer.settimeout(0.3)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            try:
                received += peer.recv(65536)
            except (TimeoutError, ConnectionError):
                continue
