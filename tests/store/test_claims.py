"""Claims and flags: nothing starts where it must not, whoever asks, and the set of claims is a set."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import redis

from router.model.claim import Occupancy
from router.store.capacity import ClosingNode, Lease, Offered, Refused, Standing
from router.store.picture import take_picture
from tests.store.raw import Dump, check, dump
from tests.store.replica import POOL, Replica, replica, until

Look = Callable[[], Dump]


async def block(one: Replica, claim: str, *nodes: str, notice_s: float = 0.0, pool: str = POOL) -> None:
    await one.control.block(pool, claim, nodes, notice_s, notice_s + 60)


async def test_during_the_notice_short_work_starts_and_long_work_does_not(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        await block(one, "c1", "n1", notice_s=30)
        assert await one.ask("long", need=60, preferred=("w1",)) == Standing(0)
        short = await one.lease("short", need=1)
        await one.capacity.release(short, "yes")
        assert await one.tend() == ()
        await one.wait("still long", rank=-1, need=60)
        assert isinstance(await one.ask("short too", need=1, rank=9), Lease), "no long one stands before it"
        look()


async def test_work_goes_to_nodes_without_notice_first(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("a-closing", node="n1")
        await one.worker("z-open", node="n2")
        await block(one, "c1", "n1", notice_s=30)
        assert [(await one.lease(f"t{number}")).worker for number in range(2)] == ["z-open", "a-closing"]


async def test_a_claim_without_notice_closes_at_once(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1", slots=2)
        running = await one.lease("running")
        await block(one, "c1", "n1")
        assert await one.ask("t1", need=0.001) == Standing(0)
        assert await one.ask("t2", queue=False, preferred=("w1",)) == Refused("no_free_slot")
        assert look().free == set()
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(1, 0, 0)
        assert await one.capacity.renew(POOL, [running.id]) == set()
        await one.capacity.release(running, "yes")
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(0, 0, 0)
        assert await one.tend() == ()


async def test_the_notice_ends_by_itself(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        await block(one, "c1", "n1", notice_s=0.3)
        end = time.monotonic() + 0.35
        await until(lambda: time.monotonic() > end)
        assert await one.ask("t1", need=0.001) == Standing(0)
        seen = dump(client)
        assert seen.free == set(), "a worker on a closed node is taken off the list by the first that asks"
        check(seen)


async def test_occupancy_counts_leases_offers_and_ghosts_of_the_gang(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1", slots=2)
        await one.worker("w2", node="n2")
        await one.worker("w3", node="n3")
        await one.lease("leased", preferred=("w1",))
        abandoned = await one.lease("abandoned", preferred=("w2",))
        await one.capacity.release(abandoned, "unknown")
        full = await one.lease("full", preferred=("w1",))
        await one.lease("elsewhere", preferred=("w3",))
        await one.wait("waiter")
        await one.capacity.release(full, "yes")
        assert await one.capacity.occupancy(POOL, ["n1", "n2"]) == Occupancy(1, 1, 1)
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(1, 1, 0)
        assert await one.capacity.occupancy(POOL, ["n3", "unheard of"]) == Occupancy(1, 0, 0)


async def test_a_claim_takes_back_an_offer(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        held = await one.lease("t0")
        await one.wait("t1", rank=1)
        await one.wait("t2", rank=2)
        before = look().queue[0]
        await one.capacity.release(held, "yes")
        assert await one.ask("t1", rank=1) == Offered()
        await block(one, "c1", "n1")
        assert await one.capacity.accept(POOL, "t1") == Standing(0)
        assert look().queue[0] == before, "the ticket is back at its place"
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(0, 0, 0)
        assert await one.capacity.leave_if_unoffered(POOL, "t1") == "left"


async def test_an_offer_that_a_claim_takes_back_is_made_good_elsewhere(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        held = await one.lease("t0")
        await one.wait("t1", avoid=("w2",))
        await one.wait("t2")
        await one.capacity.release(held, "yes")
        await one.worker("w2", node="n2", slots=2)
        assert (await one.accept("t2")).worker == "w2"
        await one.ask("t1", lease="t1.2", avoid=())
        await block(one, "c1", "n1")
        assert await one.capacity.accept(POOL, "t1") == Standing(0)
        await one.ask("t1", lease="t1.3")
        assert {it["worker"] for it in look().leases.values()} == {"w2"}


async def test_a_notice_takes_back_offers_of_work_that_is_too_long_for_it(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        held = await one.lease("t0")
        await one.wait("long", rank=1, need=600)
        await one.wait("short", rank=2, need=1)
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("long",)
        await block(one, "c1", "n1", notice_s=60)
        assert await one.tend() == ("short",)
        assert await one.capacity.accept(POOL, "long") == Standing(0)
        look()


async def test_an_offer_does_not_outlive_the_notice(redis_url: str, look: Look) -> None:
    """The notice ends between offer and acceptance; no call took the offer back."""
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        await block(one, "c1", "n1", notice_s=1.0)
        held = await one.lease("t0", need=0.001)
        await one.wait("t1", need=0.001)
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("t1",)
        end = time.monotonic() + 1.05
        await until(lambda: time.monotonic() > end)
        assert await one.capacity.accept(POOL, "t1") == Standing(0)
        assert look().leases == {}


async def test_unblock_serves_the_waiters_best_first(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1", slots=2)
        await block(one, "c1", "n1")
        for ticket, rank in (("third", 3), ("first", 1), ("second", 2)):
            await one.wait(ticket, rank=rank)
        await one.control.unblock(POOL, "c1", ["n1"])
        assert set(await one.tend()) == {"first", "second"}
        look()


async def test_two_claims_on_one_node_are_a_set(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        await block(one, "c1", "n1")
        await block(one, "c2", "n1", notice_s=60)
        await one.wait("t1", need=0.001)
        await one.control.unblock(POOL, "c1", ["n1"])
        assert await one.tend() == ("t1",), "the second claim's notice still runs"
        await one.control.unblock(POOL, "c1", ["n1"])
        await block(one, "c1", "n1")
        await one.control.unblock(POOL, "c2", ["n1"])
        assert await one.capacity.accept(POOL, "t1") == Standing(0)
        await one.control.unblock(POOL, "c1", ["n1"])
        assert await one.tend() == ("t1",)
        look()


async def test_the_epoch_rises_with_every_change_and_with_nothing_else(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")

        def now() -> tuple[int, int]:
            seen = look()
            return seen.nodes["n1"]["epoch"], int(seen.meta["revision"])

        epochs = [now()]
        for _ in range(2):
            await one.control.block(POOL, "c1", ["n1"], 60, 120)
            epochs.append(now())
        await one.control.block(POOL, "c1", ["n1"], 30, 120)
        epochs.append(now())
        for _ in range(2):
            await one.control.unblock(POOL, "c1", ["n1"])
            epochs.append(now())
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(epochs)]
        assert steps == [(1, 1), (0, 0), (1, 1), (1, 1), (0, 0)]


async def test_a_late_release_of_an_old_claim_changes_nothing(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        await block(one, "new", "n1")
        await one.control.unblock(POOL, "old", ["n1", "unheard of"])
        assert await one.ask("t1") == Standing(0)


async def test_a_longer_notice_opens_nothing_again_and_a_shorter_one_closes(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        for notice_s in (600, 0, 600):
            await block(one, "c1", "n1", notice_s=notice_s)
        await one.wait("t1")
        assert await one.tend() == ()


async def test_occupancy_counts_the_nodes_that_a_claim_has_not_closed(redis_url: str) -> None:
    async with replica(redis_url) as one:
        for node in ("n1", "n2", "n3"):
            await one.worker(f"w-{node}", node=node)
        await block(one, "c1", "n1")
        await block(one, "c1", "n2", notice_s=60)
        await block(one, "c2", "n3")
        gang = ("n1", "n2", "n3", "unheard of")
        assert await one.capacity.occupancy(POOL, gang, "c1") == Occupancy(0, 0, 0, unblocked=3)
        assert await one.capacity.occupancy(POOL, gang) == Occupancy(0, 0, 0)
        await block(one, "c1", *gang)
        assert await one.capacity.occupancy(POOL, gang, "c1") == Occupancy(0, 0, 0)


async def test_a_claim_on_a_node_without_workers_closes_those_that_come(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await block(one, "c1", "n1")
        await one.worker("w1", node="n1")
        assert await one.ask("t1") == Standing(0)
        await one.control.unblock(POOL, "c1", ["n1"])
        assert await one.tend() == ("t1",)


async def test_a_node_with_workers_of_two_pools_closes_in_each(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url, pools=("p", "q")) as one:
        await one.worker("wp", node="n1", pool="p")
        await one.worker("wq", node="n1", pool="q")
        await one.lease("t0", pool="q")
        for pool in ("p", "q"):
            await block(one, "c1", "n1", pool=pool)
        assert await one.ask("t1", pool="p") == Standing(0)
        assert await one.ask("t2", pool="q") == Standing(0)
        assert await one.capacity.occupancy("p", ["n1"]) == Occupancy(0, 0, 0)
        assert await one.capacity.occupancy("q", ["n1"]) == Occupancy(1, 0, 0)
        await one.control.unblock("p", "c1", ["n1"])
        assert await one.tend("p") == ("t1",)
        assert await one.tend("q") == ()
        for pool in ("p", "q"):
            check(dump(client, pool), pool)


async def test_replicas_hear_what_closes_once_and_again_when_it_changes(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        first = await one.capacity.tend(POOL, -1)
        assert first.closing == {}
        assert (await one.capacity.tend(POOL, first.revision)).closing is None
        before = time.time()
        await one.control.block(POOL, "c1", ["n1"], 10, 20)
        await one.control.block(POOL, "c2", ["n1"], 15, 18)
        after = time.time()
        second = await one.capacity.tend(POOL, first.revision)
        assert second.closing is not None
        closing = second.closing["n1"]
        assert isinstance(closing, ClosingNode)
        assert before - 0.002 <= closing.closes_at - 10 <= after
        assert before - 0.002 <= closing.cut_at - 18 <= after, "the earliest cut of all claims rules"
        await one.control.unblock(POOL, "c1", ["n1"])
        await one.control.unblock(POOL, "c2", ["n1"])
        assert (await one.capacity.tend(POOL, second.revision)).closing == {}


async def test_a_flagged_node_finishes_what_it_runs_and_starts_nothing(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1", slots=2)
        running = await one.lease("running")
        other = await one.lease("other")
        await one.wait("offered")
        await one.capacity.release(other, "yes")
        await one.control.flag_node(POOL, "n1", True)
        await one.control.flag_node(POOL, "n1", True)
        assert await one.capacity.accept(POOL, "offered") == Standing(0)
        assert await one.capacity.renew(POOL, [running.id]) == set()
        await one.capacity.release(running, "yes")
        assert await one.tend() == ()
        picture = await take_picture(one.link, one.clock, POOL)
        assert picture.flagged == {"n1"}
        assert picture.view.workers[0].closed
        await one.control.flag_node(POOL, "n1", False)
        assert await one.tend() == ("offered",)
        look()


async def test_a_closed_pool_gives_nothing_out_and_keeps_its_queue(
    redis_url: str, client: redis.Redis
) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", slots=2)
        held = await one.lease("t0")
        other = await one.lease("t00")
        await one.wait("t1", rank=1)
        await one.wait("t2", rank=2)
        await one.capacity.release(other, "yes")
        await one.control.flag_pool(POOL, True)
        assert await one.capacity.accept(POOL, "t1") == Standing(0)
        assert await one.ask("t3") == Refused("pool_closed")
        await one.capacity.release(held, "yes")
        assert await one.tend() == ()
        assert len(dump(client).queue) == 2
        await one.control.flag_pool(POOL, False)
        assert set(await one.tend()) == {"t1", "t2"}
        check(dump(client))


async def test_a_worker_that_goes_down_loses_its_offers(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        held = await one.lease("t0")
        await one.wait("t1")
        await one.capacity.release(held, "yes")
        await one.roster.seen(POOL, "w1", up=False, idle_since=None, boot=None)
        assert await one.capacity.accept(POOL, "t1") == Standing(0)
        await one.worker("w2")
        assert (await one.accept("t1")).worker == "w2"
        look()


async def test_releasing_a_whole_fleet_serves_everybody_at_once(redis_url: str, look: Look) -> None:
    async with replica(redis_url, timeout_s=20) as one:
        nodes = [f"n{number:02}" for number in range(20)]
        for node in nodes:
            await one.worker(f"w-{node}", node=node, slots=8)
        await block(one, "all", *nodes)
        for number in range(200):
            await one.wait(f"t{number:03}", rank=number)
        await one.control.unblock(POOL, "all", nodes)
        assert set(await one.tend()) == {f"t{number:03}" for number in range(160)}
        assert [ticket for *_, ticket in look().places()] == [f"t{number:03}" for number in range(160, 200)]


async def test_a_thousand_flips_leave_the_last_word_standing(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        await one.worker("w1", node="n1")
        await one.control.flag_node(POOL, "n1", False)
        epoch = look().nodes["n1"]["epoch"]
        for number in range(1000):
            await (one if number % 2 else two).control.flag_node(POOL, "n1", number % 2 == 0)
        assert look().nodes["n1"]["epoch"] == epoch + 1000
        assert isinstance(await one.ask("t1"), Lease)
