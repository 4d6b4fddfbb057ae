"""Work that may still run keeps its slot until there is evidence; on a claimed node time is none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from router.model.claim import Occupancy
from router.store.capacity import Lease, Standing
from router.store.picture import take_picture
from tests.store.raw import Dump
from tests.store.replica import POOL, Replica, replica, until

Look = Callable[[], Dump]


async def ghost(one: Replica, ticket: str = "t1", budget: float = 60.0) -> Lease:
    """A lease whose work may still run."""
    lease = await one.lease(ticket, budget=budget)
    await one.capacity.release(lease, "unknown")
    return lease


async def server_passes(one: Replica, look: Look, moment: float) -> None:
    await until(lambda: look().now >= moment)


async def test_a_ghost_keeps_its_slot(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        await ghost(one)
        assert await one.ask("t2") == Standing(0)
        assert await one.capacity.occupancy(POOL, ["node-w1"]) == Occupancy(0, 0, 1)
        assert await one.tend() == ()
        look()


async def test_only_evidence_that_is_younger_than_the_ghost_ends_it(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        lease = await ghost(one)
        await one.wait("t2")
        haunts = look().leases[lease.id]["haunts"] / 1000

        async def seen(idle_since: float | None) -> int:
            return await one.roster.seen(POOL, "w1", up=True, idle_since=idle_since, boot=None)

        assert await seen(None) == 0
        assert await seen(haunts - 0.001) == 0
        assert await one.tend() == ()
        assert await seen(haunts + 0.001) == 1
        assert await one.tend() == ("t2",)
        assert await seen(haunts + 0.001) == 0


async def test_evidence_ends_no_lease_in_use(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker(slots=2)
        await one.lease("t1")
        await ghost(one, "t2")
        proof = one.clock.now() + 5
        assert await one.roster.seen(POOL, "w1", up=True, idle_since=proof, boot="b") == 1
        assert set(look().leases) == {"t1.1"}


async def test_another_server_process_ends_what_was_given_to_the_last_one(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker(slots=2)

        async def seen(boot: str | None) -> int:
            return await one.roster.seen(POOL, "w1", up=True, idle_since=None, boot=boot)

        await ghost(one, "t1")
        assert await seen("first") == 0
        assert await seen("first") == 0
        assert await seen(None) == 0
        last_seen = look().workers["w1"]["seen"]
        await server_passes(one, look, last_seen + 2)
        after = await ghost(one, "t2")
        assert await seen("second") == 1
        assert set(look().leases) == {after.id}, "it may have been sent to the second process"
        assert await seen("third") == 1


async def test_a_ghost_ends_at_its_own_last_end(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.2) as one:
        await one.worker()
        lease = await ghost(one, budget=0.4)
        await one.wait("t2")
        last_end = look().expiry[lease.id]
        assert await one.tend() == ()
        await server_passes(one, look, last_end + 1)
        assert await one.tend() == ("t2",)


async def test_time_alone_never_clears_a_claimed_node(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.2) as one:
        await one.worker("w1", node="n1")
        lease = await ghost(one, budget=0.3)
        await one.control.block(POOL, "c1", ["n1"], 0, 60)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            await one.tend()
            await asyncio.sleep(0.05)
        assert set(look().leases) == {lease.id}
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(0, 0, 1)
        assert (await take_picture(one.link, one.clock, POOL)).stuck == "w1"
        proof = one.clock.now() + 1
        assert await one.roster.seen(POOL, "w1", up=True, idle_since=proof, boot=None) == 1
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(0, 0, 0)
        assert (await take_picture(one.link, one.clock, POOL)).stuck == ""


async def test_a_flag_alone_does_not_keep_a_ghost_forever(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.2) as one:
        await one.worker("w1", node="n1")
        lease = await ghost(one, budget=0.2)
        await one.control.flag_node(POOL, "n1", True)
        last_end = look().expiry[lease.id]
        await server_passes(one, look, last_end + 1)
        await one.tend()
        assert look().leases == {}


async def test_a_dead_replicas_leases_become_ghosts_and_not_slots(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.4) as one, replica(redis_url, "r2", lease_s=0.4) as two:
        await one.worker(slots=3)
        dead = [await two.lease(f"t{number}") for number in range(3)]
        end = time.monotonic() + 0.45
        await until(lambda: time.monotonic() > end)
        assert await one.ask("t9") == Standing(0)
        assert {it["state"] for it in look().leases.values()} == {"ghost"}
        proof = one.clock.now() + 0.05
        assert await one.roster.seen(POOL, "w1", up=True, idle_since=proof, boot=None) == len(dead)
        assert await one.tend() == ("t9",)


async def test_many_expired_leases_are_reaped_sixteen_a_call(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.8) as one:
        await one.worker(slots=40)
        for number in range(40):
            await one.lease(f"t{number:02}")
        end = max(look().expiry.values())
        await server_passes(one, look, end + 1)
        ghosts = []
        for _ in range(3):
            await one.tend()
            ghosts.append(sum(it["state"] == "ghost" for it in look().leases.values()))
        assert ghosts == [16, 32, 40]
