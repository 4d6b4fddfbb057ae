"""Spillover's workload is made of cancellations: they must neither wedge the client nor leak connections."""

from __future__ import annotations

import asyncio
import random
import resource
from collections.abc import Iterator

import pytest

from providers.contract import Failed, Fault
from providers.http import Http, Reply, Request
from tests.providers.loops import anyio_backend  # noqa: F401 - both loops
from tests.providers.scripted import Raw, Wire, answering, raw_server, reply


async def _slow(wire: Wire) -> None:
    await asyncio.sleep(0.01)
    await wire.send(reply())


def _in_use(http: Http) -> int:
    connector = http._session.connector
    assert connector is not None
    return len(connector._acquired)


async def _cancel_at_random(http: Http, server: Raw, count: int, rng: random.Random) -> None:
    async def one() -> None:
        await asyncio.sleep(rng.uniform(0, 0.8))
        try:
            async with asyncio.timeout(rng.uniform(0, 0.03)):
                await http.send(Request("POST", server.url, 5, body=b"{}"))
        except TimeoutError:
            pass

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(one())


async def test_800_cancelled_requests_leave_nothing_behind(http: Http) -> None:
    async with raw_server(_slow) as server:
        await _cancel_at_random(http, server, 800, random.Random(1))
        answer = await http.send(Request("POST", server.url, 5, body=b"{}"))
        assert isinstance(answer, Reply)
        assert answer.status == 200
        assert _in_use(http) == 0


async def test_cancelling_one_request_closes_its_connection(http: Http) -> None:
    async def forever(_: Wire) -> None:
        asked.set()
        await asyncio.Event().wait()

    asked = asyncio.Event()
    async with raw_server(forever) as server:
        task = asyncio.create_task(http.send(Request("POST", server.url, 60, body=b"{}")))
        await asked.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert _in_use(http) == 0


@pytest.fixture
def many_files() -> Iterator[None]:
    """Both ends of 2,000 connections are open files of this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(8192, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
async def test_2000_waiting_requests_are_all_answered(http: Http) -> None:
    """The default pool of httpx answered 436 of them, aiohttp's default limit 200 (decision 5)."""
    together = asyncio.Barrier(2000)

    async def when_all_wait(wire: Wire) -> None:
        await together.wait()
        await wire.send(reply())

    async with raw_server(when_all_wait) as server:
        answers = await asyncio.gather(
            *(http.send(Request("POST", server.url, 30, body=b"{}")) for _ in range(2000))
        )
    assert [answer for answer in answers if not isinstance(answer, Reply) or answer.status != 200] == []
    assert _in_use(http) == 0


async def test_a_budget_that_ends_is_a_value_and_closes_the_connection(http: Http) -> None:
    async with raw_server(_slow) as server:
        answer = await http.send(Request("POST", server.url, 0.005, body=b"{}"))
        assert isinstance(answer, Failed)
        assert answer.fault in (Fault.AMBIGUOUS, Fault.NOT_SENT)
        assert _in_use(http) == 0


async def test_a_finished_request_gives_its_connection_back(http: Http) -> None:
    async with raw_server(answering(reply())) as server:
        for _ in range(5):
            await http.send(Request("POST", server.url, 5, body=b"{}"))
        assert server.connections == 1
