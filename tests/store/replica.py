"""One replica's wrappers on a link of its own, and the few words that the tests of the store are made of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from router.model.step import OnPrem
from router.store.capacity import Capacity, Lease, Offered, Refused, Standing
from router.store.clock import StoreClock
from router.store.control import Control
from router.store.link import Link, open_link
from router.store.roster import Roster, WorkerRecord

POOL = "p"
FAR = 4_000_000_000.0
"""A deadline that does not come; ranks count from here."""


@dataclass(frozen=True)
class Replica:
    """What one process of the router has of the store."""

    name: str
    link: Link
    clock: StoreClock
    capacity: Capacity
    roster: Roster
    control: Control

    async def worker(
        self,
        name: str = "w1",
        *,
        node: str = "",
        slots: int = 1,
        lanes: tuple[str, ...] = ("a",),
        pool: str = POOL,
    ) -> None:
        """A worker that takes work; on a node of its own unless told otherwise."""
        record = WorkerRecord(name, pool, node or f"node-{name}", f"http://{name}", slots, lanes)
        await self.roster.put(record)
        await self.roster.seen(pool, name, up=True, idle_since=None, boot=None)

    async def ask(
        self,
        ticket: str,
        *,
        rank: float = 0.0,
        lane: str = "a",
        need: float = 1.0,
        budget: float = 60.0,
        deadline: float = FAR,
        preferred: tuple[str, ...] = (),
        avoid: tuple[str, ...] = (),
        queue: bool = True,
        lease: str = "",
        pool: str = POOL,
    ) -> Lease | Standing | Offered | Refused:
        """Asks for a slot with the lease id `{ticket}.1` unless told otherwise."""
        where = OnPrem(pool, lane, FAR + rank, need, budget, preferred, avoid, queue)
        return await self.capacity.acquire(ticket, lease or f"{ticket}.1", where, deadline)

    async def lease(self, ticket: str, **how: object) -> Lease:
        """A slot that must be free."""
        got = await self.ask(ticket, **how)  # type: ignore[arg-type]
        assert isinstance(got, Lease), got
        return got

    async def wait(self, ticket: str, **how: object) -> None:
        """A place in the queue; there must be no slot."""
        got = await self.ask(ticket, **how)  # type: ignore[arg-type]
        assert isinstance(got, Standing), got

    async def tend(self, pool: str = POOL) -> tuple[str, ...]:
        """A heartbeat; the tickets that have an offer."""
        return (await self.capacity.tend(pool, -1)).offered

    async def accept(self, ticket: str, pool: str = POOL) -> Lease:
        """An offer that must be there."""
        got = await self.capacity.accept(pool, ticket)
        assert isinstance(got, Lease), got
        return got


@asynccontextmanager
async def replica(
    url: str,
    name: str = "r1",
    *,
    lease_s: float = 30.0,
    offer_s: float = 30.0,
    silent_s: float = 30.0,
    freeze_s: float = 30.0,
    timeout_s: float = 5.0,
    pools: tuple[str, ...] = (POOL,),
) -> AsyncIterator[Replica]:
    """A replica that has opened its pools and sent one heartbeat."""
    async with open_link(url, timeout_s, timeout_s) as link:
        clock = StoreClock(time.monotonic, time.time)
        capacity = Capacity(link, clock, name, 2.0)
        for pool in pools:
            await capacity.open_pool(pool, lease_s, offer_s, silent_s, freeze_s)
            await capacity.tend(pool, -1)
        yield Replica(name, link, clock, capacity, Roster(link), Control(link, clock))


async def until(what: Callable[[], bool], within_s: float = 10.0) -> None:
    """Polls; fails when `within_s` is over."""
    end = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(0.005)
