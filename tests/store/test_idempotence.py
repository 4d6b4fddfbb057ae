"""Calls repeated, late, lost and out of order: the set of leases and places is the same as in good order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import redis

from router.store import keys
from router.store.capacity import Lease, Offered, Refused, Standing
from tests.store.raw import Dump
from tests.store.replica import POOL, Replica, replica, until

Look = Callable[[], Dump]


async def past(moment: float) -> None:
    """Waits for a scaled-down time of the store to be over."""
    await asyncio.sleep(max(0.0, moment - time.monotonic()))


def state(seen: Dump, lease: str) -> str:
    """`leased`, `offered`, `ghost`, or `none`."""
    return str(seen.leases[lease]["state"]) if lease in seen.leases else "none"


async def offered(one: Replica, ticket: str = "t1") -> None:
    """The one slot of w1 stands offered to a ticket."""
    await one.worker()
    held = await one.lease("t0")
    await one.wait(ticket)
    await one.capacity.release(held, "yes")


async def test_acquire_repeated_answers_the_same(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker(slots=2)
        first = await one.lease("t1")
        again = await one.lease("t1")
        assert (again.id, again.worker, again.fence) == (first.id, first.worker, first.fence)
        assert len(look().leases) == 1
        await one.lease("t2")
        assert await one.ask("t3") == Standing(0)
        assert await one.ask("t3") == Standing(0)
        assert len(look().queue) == 1


async def test_a_release_before_a_late_acquire_refuses_it(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        await one.capacity.forget(POOL, "t1.1")
        assert await one.ask("t1") == Refused("ended")
        assert look().leases == {}
        assert isinstance(await one.ask("t1", lease="t1.2"), Lease)


async def test_release_twice_frees_nothing_that_was_given_away(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        first = await one.lease("t1")
        await one.capacity.release(first, "yes")
        second = await one.lease("t2")
        await one.capacity.release(first, "yes")
        await one.capacity.release(first, "unknown")
        assert set(look().leases) == {second.id}
        assert await one.ask("t1") == Refused("ended")


async def test_letting_go_twice_keeps_the_moment_of_the_first(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        lease = await one.lease("t1")
        await one.capacity.release(lease, "unknown")
        since = look().leases[lease.id]["haunts"]
        evidence = one.clock.now() + 0.002
        await until(lambda: one.clock.now() > evidence + 0.005)
        await one.capacity.release(lease, "unknown")
        assert look().leases[lease.id]["haunts"] == since
        assert await one.roster.seen(POOL, "w1", up=True, idle_since=evidence, boot=None) == 1


async def test_the_work_that_was_let_go_can_still_be_reported_over(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        lease = await one.lease("t1")
        await one.capacity.release(lease, "unknown")
        await one.capacity.release(lease, "yes")
        assert look().leases == {}


async def test_accept_repeated_answers_the_same(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await offered(one)
        first = await one.accept("t1")
        again = await one.accept("t1")
        assert (again.id, again.fence) == (first.id, first.fence)
        assert len(look().leases) == 1
        await one.capacity.release(first, "yes")
        assert await one.capacity.accept(POOL, "t1") is None


async def test_only_the_replica_of_an_offer_accepts_it(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        await offered(one)
        assert await two.capacity.accept(POOL, "t1") is None
        assert isinstance(await one.capacity.accept(POOL, "t1"), Lease)


async def test_left_stays_left(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("t1")
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "left"
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "left"
        await one.capacity.release(held, "yes")
        assert await one.tend() == ()
        assert await one.capacity.accept(POOL, "t1") is None
        assert look().tickets == {}
        assert await one.capacity.leave_if_unoffered(POOL, "never here") == "gone"


async def test_an_offer_forbids_to_leave(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await offered(one)
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "offered"
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "offered"
        lease = await one.accept("t1")
        await one.capacity.release(lease, "yes")
        assert look().leases == {}
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "gone"


async def test_what_was_taken_up_is_no_offer_any_more(redis_url: str, look: Look) -> None:
    """Who clears up after a cancelled attempt must not give back, as unused, the slot it may still use."""
    async with replica(redis_url) as one:
        await offered(one)
        lease = await one.accept("t1")
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "gone"
        await one.capacity.release(lease, "unknown")
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "gone"
        assert await one.capacity.accept(POOL, "t1") is None
        assert state(look(), lease.id) == "ghost"


async def test_the_next_attempt_never_gets_the_last_ones_slot(redis_url: str, look: Look) -> None:
    """The release of an attempt that came from an offer is slower than the next question of its ticket."""
    async with replica(redis_url) as one:
        await offered(one)
        first = await one.accept("t1")
        assert await one.ask("t1", lease="t1.2") == Standing(0)
        await one.capacity.release(first, "yes")
        assert await one.tend() == ("t1",)
        second = await one.accept("t1")
        assert second.id != first.id
        assert set(look().leases) == {second.id}


async def test_a_ticket_whose_work_may_run_on_can_ask_anew(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await offered(one)
        await one.worker("w2")
        first = await one.accept("t1")
        await one.capacity.release(first, "unknown")
        second = await one.lease("t1", lease="t1.2")
        assert second.worker == "w2"
        assert (state(look(), first.id), state(look(), second.id)) == ("ghost", "leased")


async def test_renew_does_not_bring_back_what_was_let_go(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        lease = await one.lease("t1")
        await one.capacity.release(lease, "unknown")
        assert await one.capacity.renew(POOL, [lease.id]) == {lease.id}
        assert await one.ask("t1") == Refused("ended")
        assert state(look(), lease.id) == "ghost"


async def test_renew_tells_what_is_lost(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        await one.worker(slots=200)
        leases = [(await one.lease(f"t{number}")).id for number in range(150)]
        assert await one.capacity.renew(POOL, leases) == set()
        assert await one.capacity.renew(POOL, [*leases, "nobody's"]) == {"nobody's"}
        assert await two.capacity.renew(POOL, leases[:3]) == set(leases[:3])
        assert await one.capacity.renew(POOL, []) == set()


async def test_who_left_may_come_back(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("t1", rank=1)
        await one.wait("t2", rank=2)
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "left"
        await one.wait("t1", rank=1, lease="t1.2")
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("t1",)
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "offered"
        look()


async def test_asking_again_moves_the_place(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("t1", rank=1)
        await one.wait("t2", rank=2)
        assert await one.ask("t1", rank=3, lane="a") == Standing(1)
        assert [ticket for *_, ticket in look().places()] == ["t2", "t1"]
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("t2",)


async def test_asking_again_with_a_later_rank_does_not_stand_behind_itself(
    redis_url: str, look: Look
) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        await one.control.flag_pool(POOL, True)
        await one.control.flag_pool(POOL, False)
        held = await one.lease("t0")
        await one.wait("t1", rank=1)
        await one.control.flag_pool(POOL, True)
        await one.capacity.release(held, "yes")
        await one.control.flag_pool(POOL, False)
        assert isinstance(await one.ask("t1", rank=9, lease="t1.2"), Lease)
        assert look().tickets == {}


async def test_asking_without_waiting_keeps_the_place_it_had(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("t1", rank=1)
        before = look().queue
        assert await one.ask("t1", rank=7, queue=False, lease="t1.2") == Refused("no_free_slot")
        assert look().queue == before
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("t1",)


async def test_an_ended_id_is_forgotten_after_a_lease_time(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.4) as one:
        await one.worker()
        await one.capacity.release(await one.lease("t1"), "yes")
        end = time.monotonic() + 0.45
        assert "t1.1" in look().tombs
        await past(end)
        await one.tend()
        assert look().tombs == {}


async def test_a_lapsed_offer_goes_to_the_next_and_suspends_its_replica(redis_url: str, look: Look) -> None:
    async with replica(redis_url, "r1", offer_s=0.2) as one, replica(redis_url, "r2", offer_s=0.2) as two:
        await one.worker()
        held = await two.lease("t0")
        await one.wait("mute", rank=1)
        await one.wait("mute too", rank=2)
        await two.wait("next", rank=3)
        await two.capacity.release(held, "yes")
        await past(time.monotonic() + 0.25)
        assert await two.tend() == ("next",)
        assert look().parked == {"r1\0mute", "r1\0mute too"}
        assert await one.capacity.accept(POOL, "mute") == Standing(0)
        assert await one.tend() == ()
        assert [ticket for *_, ticket in look().places()] == ["mute", "mute too"]
        await two.capacity.release(await two.accept("next"), "yes")
        assert await one.tend() == ("mute",)


async def test_a_late_accept_takes_an_offer_that_nobody_reaped(redis_url: str) -> None:
    async with replica(redis_url, offer_s=0.2) as one:
        await offered(one)
        await past(time.monotonic() + 0.25)
        assert isinstance(await one.capacity.accept(POOL, "t1"), Lease)


async def test_a_paused_replica_finds_its_lease_alive(redis_url: str, look: Look) -> None:
    async with replica(redis_url, "r1", lease_s=0.4) as one, replica(redis_url, "r2", lease_s=0.4) as two:
        await one.worker()
        lease = await one.lease("t1")
        await past(time.monotonic() + 0.45)
        await two.wait("t2")
        assert state(look(), lease.id) == "ghost"
        assert await two.tend() == ()
        assert await one.capacity.renew(POOL, [lease.id]) == set()
        assert state(look(), lease.id) == "leased"
        await one.capacity.release(lease, "yes")
        assert await two.tend() == ("t2",)


async def test_a_paused_replica_finds_its_slot_given_away(redis_url: str, look: Look) -> None:
    async with replica(redis_url, "r1", lease_s=0.4) as one, replica(redis_url, "r2", lease_s=0.4) as two:
        await one.worker()
        lease = await one.lease("t1")
        await past(time.monotonic() + 0.45)
        await two.wait("t2")
        proof = two.clock.now() + 0.05
        assert await two.roster.seen(POOL, "w1", up=True, idle_since=proof, boot=None) == 1
        assert await two.tend() == ("t2",)
        assert await one.capacity.renew(POOL, [lease.id]) == {lease.id}
        assert await one.ask("t1") == Refused("ended")
        await one.capacity.release(lease, "yes")
        assert [it["ticket"] for it in look().leases.values()] == ["t2"]


async def test_acquire_repeated_after_a_pause_brings_its_lease_back(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.4) as one:
        await one.worker()
        lease = await one.lease("t1")
        await past(time.monotonic() + 0.45)
        await one.tend()
        assert state(look(), lease.id) == "ghost"
        assert (await one.lease("t1")).fence == lease.fence
        assert state(look(), lease.id) == "leased"


async def test_waiters_of_a_silent_replica_are_passed_over_and_come_back(redis_url: str, look: Look) -> None:
    async with replica(redis_url, silent_s=0.5) as one, replica(redis_url, "r2", silent_s=0.5) as two:
        await one.worker()
        held = await two.lease("t0")
        await one.wait("silent", rank=1)
        await two.wait("heard", rank=2)
        await past(time.monotonic() + 0.55)
        await two.tend()
        await two.capacity.release(held, "yes")
        assert await two.tend() == ("heard",)
        assert look().parked == {"r1\0silent"}
        assert await one.capacity.leave_if_unoffered(POOL, "silent") == "left"
        await one.wait("silent", rank=1, lease="silent.2")
        await one.tend()
        await two.capacity.release(await two.accept("heard"), "yes")
        assert await one.tend() == ("silent",)
        assert look().parked == set()


async def test_a_place_is_taken_over_by_another_replica(redis_url: str, look: Look) -> None:
    """A job that another replica adopts: the ticket moves, also out of the parked ones."""
    async with replica(redis_url, silent_s=0.5) as one, replica(redis_url, "r2", silent_s=0.5) as two:
        await one.worker()
        held = await two.lease("t0")
        await one.wait("job")
        await past(time.monotonic() + 0.55)
        await two.tend()
        assert look().parked == {"r1\0job"}
        await two.wait("job", lease="job.2")
        assert look().parked == set()
        await two.capacity.release(held, "yes")
        assert await two.tend() == ("job",)


async def test_waiters_past_their_deadline_are_dropped(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("short of time", rank=1, deadline=one.clock.now() + 0.2)
        await one.wait("patient", rank=2)
        await past(time.monotonic() + 0.25)
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("patient",)
        assert set(look().tickets) == {"patient"}
        assert await one.capacity.leave_if_unoffered(POOL, "short of time") == "gone"


async def test_parked_waiters_past_their_deadline_are_trimmed(
    redis_url: str, look: Look, client: redis.Redis
) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        await one.worker()
        await two.lease("t0")
        deadline = one.clock.now() + 0.3
        for number in range(10):
            await one.wait(f"t-{number}", deadline=deadline)
        client.zrem(dict(zip(keys.POOL, keys.pool(POOL), strict=True))["replicas"], "r1")
        await two.tend()
        assert len(look().parked) == 10
        await past(time.monotonic() + max(0.0, deadline - one.clock.now()) + 0.05)
        for _ in range(40):
            await two.tend()
        seen = look()
        assert (seen.parked, seen.queue, seen.tickets) == (set(), [], {})


async def test_an_idle_pool_holds_nothing(redis_url: str, look: Look) -> None:
    async with replica(redis_url, lease_s=0.4) as one:
        await one.worker(slots=2)
        leases = [await one.lease("t1"), await one.lease("t2")]
        await one.wait("t3")
        for lease in leases:
            await one.capacity.release(lease, "yes")
        await one.capacity.release(await one.accept("t3"), "yes")
        await past(time.monotonic() + 0.45)
        await one.tend()
        seen = look()
        assert (seen.leases, seen.expiry, seen.slots, seen.queue) == ({}, {}, set(), [])
        assert (seen.tickets, seen.offers, seen.parked, seen.tombs) == ({}, set(), set(), {})


async def test_offered_again_after_asking_again(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await offered(one)
        assert await one.ask("t1") == Offered()
        assert await one.ask("t1", queue=False, lease="t1.9") == Offered()
