"""Probes of a server on a real socket, by one leader after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from providers.http import open_http
from providers.registry import connect
from router.fleet.probing import MARGIN_S, Probing, probe_forever
from router.store.picture import take_picture
from router.store.roster import WorkerRecord
from router.telemetry.events import Event, WorkerMoved
from tests.providers.scripted import Wire, raw_server, reply
from tests.store.replica import POOL, Replica, replica

EVERY_S = 0.1
Health = Callable[[int], bool]


class Server:
    """A worker's server. `well(n)` says whether it is at its n-th question for its health since `begin`."""

    def __init__(self) -> None:
        self.well: Health = lambda nth: True
        self.asked = 0

    def begin(self, well: Health) -> None:
        self.well, self.asked = well, 0

    async def answer(self, wire: Wire) -> None:
        if wire.received.path == "/health":
            self.asked += 1
            if not self.well(self.asked):
                return await wire.send(reply(503))
        return await wire.send(reply(200))


@asynccontextmanager
async def leader(one: Replica, worker: WorkerRecord) -> AsyncIterator[list[Event]]:
    """Probes one worker while it lasts; what it has recorded."""
    records: list[Event] = []
    async with open_http() as http:
        probing = Probing(
            roster=one.roster,
            clock=one.clock,
            provider=lambda pool, url: connect("openai_images", {"server": "sglang"}, http, url, None),
            haunted=lambda pool, name: False,
            record=records.append,
            every_s=EVERY_S,
        )
        task = asyncio.create_task(probe_forever(probing, worker))
        try:
            yield records
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def is_up(one: Replica) -> bool:
    (view,) = (await take_picture(one.link, one.clock, POOL)).view.workers
    return view.up


async def becomes(one: Replica, up: bool) -> None:
    async with asyncio.timeout(10):
        while await is_up(one) is not up:  # noqa: ASYNC110 (the store is polled)
            await asyncio.sleep(0.01)


async def stays_up(one: Replica, server: Server, probes: int) -> None:
    async with asyncio.timeout(10):
        while server.asked < probes:
            assert await is_up(one)
            await asyncio.sleep(0.01)


async def test_a_new_leader_ejects_nobody_by_one_bad_probe(redis_url: str) -> None:
    server = Server()
    async with raw_server(server.answer) as at, replica(redis_url) as one:
        worker = WorkerRecord("w1", POOL, "n1", at.url, 1, ("a",))
        await one.roster.put(worker)
        async with leader(one, worker):
            await becomes(one, True)
        server.begin(lambda nth: nth > 2)
        async with leader(one, worker) as records:
            await stays_up(one, server, 6)
        assert not [it for it in records if isinstance(it, WorkerMoved) and not it.up]


async def test_a_new_leader_ejects_by_three_bad_probes(redis_url: str) -> None:
    server = Server()
    async with raw_server(server.answer) as at, replica(redis_url) as one:
        worker = WorkerRecord("w1", POOL, "n1", at.url, 1, ("a",))
        await one.roster.put(worker)
        async with leader(one, worker):
            await becomes(one, True)
        server.begin(lambda nth: False)
        async with leader(one, worker) as records:
            await becomes(one, False)
        assert server.asked >= 3
        assert records == [WorkerMoved(POOL, "w1", False)]


async def test_a_worker_never_seen_before_is_down_until_it_is_well(redis_url: str) -> None:
    server = Server()
    async with raw_server(server.answer) as at, replica(redis_url) as one:
        worker = WorkerRecord("w1", POOL, "n1", at.url, 1, ("a",))
        await one.roster.put(worker)
        server.begin(lambda nth: nth > 2)
        async with leader(one, worker):
            while server.asked < 2:
                assert not await is_up(one)
            await becomes(one, True)


async def test_another_server_says_nothing_about_work_at_the_old_one(redis_url: str) -> None:
    server = Server()
    async with raw_server(server.answer) as at, replica(redis_url) as one:
        await one.worker("w1")
        lease = await one.lease("t1")
        await one.capacity.release(lease, "unknown")
        worker = WorkerRecord("w1", POOL, "n1", at.url, 1, ("a",))
        assert await one.roster.put(worker) == "busy"
        async with leader(one, worker):
            enough = int(2 * MARGIN_S / EVERY_S)
            async with asyncio.timeout(20):
                while server.asked < enough:  # noqa: ASYNC110 (the server is polled)
                    await asyncio.sleep(0.01)
        leases = (await take_picture(one.link, one.clock, POOL)).leases
        assert [(it.worker, it.state) for it in leases] == [("w1", "ghost")]
