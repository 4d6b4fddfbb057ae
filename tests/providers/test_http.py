"""Every way a server or a network can fail is a value of the right class."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from providers.contract import Ended, Failed, Fault
from providers.http import Http, Limits, Reply, Request, open_http
from tests.providers.loops import anyio_backend  # noqa: F401 - both loops
from tests.providers.scripted import Wire, answering, raw_server, reply, resetting, silent


def _post(url: str, budget_s: float = 5.0) -> Request:
    return Request("POST", url, budget_s, body=b"{}")


async def _failed(http: Http, request: Request) -> Failed:
    answer = await http.send(request)
    assert isinstance(answer, Failed), answer
    return answer


def _refusing_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


# ------------------------------------------------------------------------------------------ surely not sent


async def test_connect_refused_is_not_sent(http: Http) -> None:
    failed = await _failed(http, _post(_refusing_url()))
    assert (failed.fault, failed.code, failed.ended) == (Fault.NOT_SENT, "connect_failed", Ended.YES)


async def test_an_unknown_name_is_not_sent(http: Http) -> None:
    failed = await _failed(http, _post("http://nowhere.invalid"))
    assert (failed.fault, failed.code) == (Fault.NOT_SENT, "dns_failed")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/", "", "http://[::"])
async def test_a_url_that_is_none_is_not_sent(http: Http, url: str) -> None:
    failed = await _failed(http, _post(url))
    assert failed.fault is Fault.NOT_SENT


@pytest.mark.parametrize("path", ["/a\r\nX-Injected: 1", "/a b", "/\x00", "/ä"])
async def test_a_url_cannot_write_headers(http: Http, path: str) -> None:
    async with raw_server(answering(reply())) as server:
        failed = await _failed(http, _post(server.url + path))
    assert (failed.fault, failed.code, server.connections) == (Fault.NOT_SENT, "bad_url", 0)


async def test_a_failed_handshake_is_not_sent(http: Http) -> None:
    """A server that does not speak TLS."""

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(4096))
        writer.write(reply(400))
        writer.close()

    received: list[bytes] = []
    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        failed = await _failed(http, _post(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
    assert (failed.fault, failed.code) == (Fault.NOT_SENT, "tls_failed")
    assert [b"POST" in data for data in received] == [False]


async def test_a_connect_that_hangs_is_not_sent() -> None:
    with _full_backlog() as url:
        async with open_http(limits=Limits(connect_s=0.1)) as http:
            failed = await _failed(http, _post(url))
    assert (failed.fault, failed.code) == (Fault.NOT_SENT, "connect_timeout")


async def test_a_budget_that_ends_while_connecting_is_not_sent(http: Http) -> None:
    with _full_backlog() as url:
        failed = await _failed(http, _post(url, budget_s=0.1))
    assert failed.fault is Fault.NOT_SENT


# -------------------------------------------------------------------------------------- sent, fate unknown


async def _garbage(wire: Wire) -> None:
    await wire.send(b"\x00\x01\x02 this is no HTTP \xff\xfe\r\n\r\n")
    wire.close()


async def _half_a_head(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Le")
    wire.close()


async def _half_a_body(wire: Wire) -> None:
    await wire.send(reply(body=b"x" * 1000)[:-500])
    wire.close()


async def _broken_chunks(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n")
    wire.close()


async def _closing(wire: Wire) -> None:
    wire.close()


async def _endless_head(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"x" * 100_000 + b"\r\n\r\n")
    wire.close()


@pytest.mark.parametrize(
    "script", [_garbage, _half_a_head, _half_a_body, _broken_chunks, _closing, _endless_head, resetting]
)
async def test_what_breaks_after_sending_is_ambiguous(
    http: Http, script: Callable[[Wire], Awaitable[None]]
) -> None:
    async with raw_server(script) as server:
        failed = await _failed(http, _post(server.url))
        assert (failed.fault, failed.ended) == (Fault.AMBIGUOUS, Ended.UNKNOWN)
        assert len(server.requests) == 1  # a POST is never sent twice


async def test_no_reply_within_the_budget_is_ambiguous(http: Http) -> None:
    async with raw_server(silent) as server:
        failed = await _failed(http, _post(server.url, budget_s=0.2))
    assert (failed.fault, failed.code, failed.ended) == (Fault.AMBIGUOUS, "deadline", Ended.UNKNOWN)


async def _drip(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(10_000):
        await wire.send(b"x")
        await asyncio.sleep(0.01)


async def test_the_budget_bounds_a_dripping_body(http: Http) -> None:
    async with raw_server(_drip) as server:
        failed = await _failed(http, _post(server.url, budget_s=0.3))
    assert (failed.fault, failed.code) == (Fault.AMBIGUOUS, "deadline")


async def test_a_body_must_follow_its_head_soon() -> None:
    async with raw_server(_drip) as server, open_http(limits=Limits(body_s=0.2)) as http:
        failed = await _failed(http, _post(server.url, budget_s=30))
    assert (failed.fault, failed.code, failed.ended) == (Fault.AMBIGUOUS, "stalled", Ended.UNKNOWN)


async def test_failures_tell_operators_no_address(http: Http) -> None:
    async with raw_server(resetting) as server:
        failed = await _failed(http, _post(server.url + "/secret-path"))
    assert "127.0.0.1" not in failed.detail
    assert "secret" not in failed.detail


# ------------------------------------------------------------------------------------------------ replies


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_failures_and_never_followed(http: Http, status: int) -> None:
    async with raw_server(answering(reply())) as inner:
        moved = answering(reply(status, b"", {"Location": inner.url + "/latest/meta-data"}))
        async with raw_server(moved) as server:
            failed = await _failed(http, _post(server.url))
    assert (failed.fault, failed.code) == (Fault.UNUSABLE, "redirect")
    assert inner.requests == []


async def test_a_reply_that_says_it_is_too_large_is_not_read() -> None:
    async def huge(wire: Wire) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx")
        await asyncio.Event().wait()

    async with raw_server(huge) as server, open_http(limits=Limits(response_bytes=1000)) as http:
        failed = await _failed(http, _post(server.url))
    assert (failed.fault, failed.code, failed.ended) == (
        Fault.UNUSABLE,
        "response_too_large",
        Ended.UNKNOWN,
    )


async def test_an_endless_reply_is_cut_off() -> None:
    async def endless(wire: Wire) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await wire.send(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")

    async with raw_server(endless) as server, open_http(limits=Limits(response_bytes=300_000)) as http:
        failed = await _failed(http, _post(server.url))
        assert (failed.fault, failed.code) == (Fault.UNUSABLE, "response_too_large")
        await server.until_closed()


async def test_an_error_status_is_a_reply(http: Http) -> None:
    async with raw_server(answering(reply(503, b'{"detail":"busy"}', {"Retry-After": "3"}))) as server:
        answer = await http.send(_post(server.url))
    assert isinstance(answer, Reply)
    assert (answer.status, answer.body, answer.headers["retry-after"]) == (503, b'{"detail":"busy"}', "3")


async def test_nothing_is_remembered_or_decoded(http: Http) -> None:
    setting = {"Set-Cookie": "a=b", "Content-Encoding": "gzip"}
    async with raw_server(answering(reply(200, b"not gzip", setting))) as server:
        await http.send(_post(server.url))
        answer = await http.send(_post(server.url))
    assert isinstance(answer, Reply)
    assert answer.body == b"not gzip"
    assert "cookie" not in server.requests[1].headers
    assert server.requests[1].headers["accept-encoding"] == "identity"


# --------------------------------------------------------------------------------- kept-alive connections


async def test_a_post_on_a_connection_that_closes_under_it_is_sent_once(http: Http) -> None:
    """The classic race: the server closes an idle connection while the next request is on its way."""
    answered = 0

    async def once_then_reset(wire: Wire) -> None:
        nonlocal answered
        answered += 1
        if answered == 1:
            await wire.send(reply())
        else:
            wire.reset()

    async with raw_server(once_then_reset) as server:
        assert isinstance(await http.send(_post(server.url)), Reply)
        failed = await _failed(http, _post(server.url))
    assert failed.fault is Fault.AMBIGUOUS
    assert (server.connections, len(server.requests)) == (1, 2)


async def test_a_connection_known_to_be_closed_is_not_used(http: Http) -> None:
    async def close_after(wire: Wire) -> None:
        await wire.send(reply())
        wire.close()

    async with raw_server(close_after) as server:
        for _ in range(3):
            assert isinstance(await http.send(_post(server.url)), Reply)
            async with asyncio.timeout(2):
                while _has_live_idle_connection(http):  # noqa: ASYNC110 - aiohttp tells nobody
                    await asyncio.sleep(0.01)
    assert (server.connections, len(server.requests)) == (3, 3)


def test_aiohttp_still_counts_no_post_as_idempotent() -> None:
    from aiohttp.client import IDEMPOTENT_METHODS

    assert "POST" not in IDEMPOTENT_METHODS
    assert aiohttp.ClientTimeout(connect=1).connect == 1


def _has_live_idle_connection(http: Http) -> bool:
    connector = http._session.connector
    assert connector is not None
    return any(protocol.is_connected() for idle in connector._conns.values() for protocol, _ in idle)


class _full_backlog:
    """An address whose queue of connections is full: the kernel drops further SYNs, so connecting hangs."""

    def __enter__(self) -> str:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        address = self._listener.getsockname()
        self._fillers = [socket.socket() for _ in range(4)]
        for filler in self._fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        return f"http://127.0.0.1:{address[1]}"

    def __exit__(self, *_: object) -> None:
        for filler in (*self._fillers, self._listener):
            filler.close()
