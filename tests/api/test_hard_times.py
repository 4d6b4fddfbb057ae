"""A store that is silent, a replica that ends, a replica that is full."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.api.deployment import SLOW, House, back_ends, document, house
from tests.conftest import Valkey


@asynccontextmanager
async def frozen(server: Valkey) -> AsyncIterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def test_a_silent_store(own_valkey: Valkey) -> None:
    async with (
        back_ends(workers=1) as (fleet, fal),
        house(document(own_valkey.url, fleet.urls, fal.url), fleet, fal) as running,
    ):
        async with frozen(own_valkey):
            await running.until(lambda: silent(running, 1.0))
            began = time.monotonic()
            reply = await running.make()
            assert time.monotonic() - began < 0.3
            assert (reply.status_code, reply.json()["error"]["code"]) == (503, "state_store_unavailable")
            assert 1 <= int(reply.headers["retry-after"]) <= 120
            for method, path, body in (
                ("POST", "/admin/claims", {"nodes": ["node-0"], "owner": "o", "reason": "r"}),
                ("PUT", "/admin/flags/node/node-0", {"reason": "r"}),
                ("DELETE", "/admin/flags/node/node-0", None),
                ("GET", "/admin/state", None),
            ):
                refused = await running.admin(method, path, json=body)
                assert (refused.status_code, refused.json()["code"]) == (503, "state_store_unavailable")
                assert "retry-after" in refused.headers
            await running.until(lambda: silent(running, 3.0))
            ready = await running.http.get("/readyz")
            assert ready.status_code == 503
            assert (ready.json()["code"], ready.json()["reasons"]) == ("not_ready", ["store_silent"])
            assert (await running.http.get("/livez")).status_code == 200
        await running.until(running.ready)
        assert (await running.make()).status_code == 200


async def test_a_replica_that_ends(small: House) -> None:
    drain = small.replica.parts.drain
    drain.begin()
    ready = await small.http.get("/readyz")
    assert (ready.status_code, ready.json()["reasons"]) == (503, ["draining"])
    assert "retry-after" in ready.headers
    await small.until(lambda: refuses(small))
    reply = await small.make()
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "draining")
    assert reply.headers["connection"] == "close"
    assert reply.json()["error"]["retryable"]
    assert (await small.http.get("/livez")).status_code == 200
    assert (await small.admin("GET", "/admin/state")).json()["draining"]


async def test_work_that_is_stopped_says_so(slow: House) -> None:
    running = asyncio.create_task(slow.make())
    await slow.fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
    slow.replica.parts.desk.stop_all()
    reply = await running
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "draining")


async def test_a_replica_holds_only_so_many(redis_url: str) -> None:
    async with back_ends(SLOW, workers=1) as (fleet, fal):
        content = document(redis_url, fleet.urls, fal.url) | {"limits": {"in_flight": 1}}
        async with house(content, fleet, fal) as running:
            first = asyncio.create_task(running.make())
            await fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
            reply = await running.make()
            assert (reply.status_code, reply.json()["error"]["code"]) == (503, "overloaded")
            assert reply.headers["retry-after"] == "1"
            assert (await first).status_code == 200


async def silent(house: House, seconds: float) -> bool:
    return house.replica.parts.lookout.silent_for() > seconds


async def refuses(house: House) -> bool:
    return not house.replica.parts.drain.accepting
