"""Who gets a slot: no more than there are, the best rank first, nobody behind one that does not fit."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from router.store import keys
from router.store.capacity import Lease, Offered, Refused, Standing
from router.store.link import StoreDown
from router.store.picture import take_picture
from tests.store.raw import Dump
from tests.store.replica import POOL, Replica, replica, until

Look = Callable[[], Dump]


async def test_two_hundred_at_once_never_get_more_than_the_slots(redis_url: str, look: Look) -> None:
    """Three replicas, two hundred requests, three workers with seven slots: all are served in the end."""
    slots = {"w1": 1, "w2": 2, "w3": 4}
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    bells = {f"t{number}": asyncio.Event() for number in range(200)}
    async with AsyncExitStack() as stack:
        replicas = [
            await stack.enter_async_context(replica(redis_url, f"r{n}", timeout_s=20)) for n in range(3)
        ]
        for name, count in slots.items():
            await replicas[0].worker(name, slots=count)

        async def carry(own: Replica, ticket: str) -> None:
            got = await own.ask(ticket, rank=hash(ticket) % 50)
            while not isinstance(got, Lease):
                await bells[ticket].wait()
                bells[ticket].clear()
                got = await own.capacity.accept(POOL, ticket) or got
            running[got.worker] += 1
            most[got.worker] = max(most[got.worker], running[got.worker])
            await asyncio.sleep(0)
            running[got.worker] -= 1
            await own.capacity.release(got, "yes")

        async def tend(own: Replica) -> None:
            while True:
                for ticket in await own.tend():
                    bells[ticket].set()
                await asyncio.sleep(0.02)

        async with asyncio.TaskGroup() as group:
            tending = [group.create_task(tend(own)) for own in replicas]
            async with asyncio.TaskGroup() as requests:
                for number, ticket in enumerate(bells):
                    requests.create_task(carry(replicas[number % 3], ticket))
            for task in tending:
                task.cancel()
    assert all(most[name] <= count for name, count in slots.items())
    assert sum(most.values()) > 0
    left = look()
    assert (left.leases, left.queue, left.tickets, left.offers) == ({}, [], {}, set())


async def test_parallel_requests_without_a_queue_get_exactly_the_slots(redis_url: str, look: Look) -> None:
    async with replica(redis_url, timeout_s=20) as one, replica(redis_url, "r2", timeout_s=20) as two:
        for name in ("w1", "w2"):
            await one.worker(name, slots=3)
        asked = [(one if n % 2 else two).ask(f"t{n}", queue=False) for n in range(100)]
        got = await asyncio.gather(*asked)
        assert sum(isinstance(reply, Lease) for reply in got) == 6
        assert {reply.why for reply in got if isinstance(reply, Refused)} == {"no_free_slot"}
        fences = [reply.fence for reply in got if isinstance(reply, Lease)]
        assert len(set(fences)) == 6
        assert look().queue == []


async def test_the_best_rank_is_served_first(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        for ticket, rank in (("late", 9), ("soon", 1), ("later", 10), ("middle", 5)):
            await one.wait(ticket, rank=rank)
        served = []
        for _ in range(4):
            await one.capacity.release(held, "yes")
            (ticket,) = await one.tend()
            look()
            served.append(ticket)
            held = await one.accept(ticket)
        assert served == ["soon", "middle", "late", "later"]


async def test_fences_rise(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        fences = []
        for number in range(20):
            lease = await one.lease(f"t{number}")
            fences.append(lease.fence)
            await one.capacity.release(lease, "yes")
        assert fences == sorted(set(fences))


async def test_a_place_tells_how_many_are_ahead(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker(lanes=("a", "b"))
        await one.lease("t0")
        assert await one.ask("t1", rank=5) == Standing(0)
        assert await one.ask("t2", rank=7) == Standing(1)
        assert await one.ask("t3", rank=6) == Standing(1)
        assert await one.ask("t4", rank=1, lane="b") == Standing(0)
        assert await one.ask("t2", rank=7) == Standing(2)


async def test_a_newcomer_passes_no_waiter_that_is_ranked_as_well_or_better(
    redis_url: str, look: Look
) -> None:
    """The slot is free and its waiter not served yet: the pool was closed when the slot was given back."""
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("waiter", rank=5)
        await one.control.flag_pool(POOL, True)
        await one.capacity.release(held, "yes")
        await one.control.flag_pool(POOL, False)
        await one.wait("same", rank=5)
        assert await one.tend() == ("waiter",)
        assert [ticket for *_, ticket in look().places()] == ["same"]


async def test_a_newcomer_yields_only_as_many_slots_as_there_are_better_waiters(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker(slots=2)
        held = [await one.lease("t0"), await one.lease("t00")]
        await one.wait("better", rank=1)
        await one.wait("worse", rank=9)
        await one.control.flag_pool(POOL, True)
        for lease in held:
            await one.capacity.release(lease, "yes")
        await one.control.flag_pool(POOL, False)
        assert isinstance(await one.ask("newcomer", rank=5), Lease)
        assert await one.tend() == ("better",)


async def test_an_offer_wakes_its_replica(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        await one.worker()
        held = await one.lease("t0")
        async with two.link.subscribed(keys.wake_channel(POOL)) as messages:
            await two.wait("t1")
            await one.capacity.release(held, "yes")
            async with asyncio.timeout(10):
                async for message in messages:
                    if message == (keys.wake_channel(POOL), "r2|t1"):
                        break
        assert isinstance(await two.capacity.accept(POOL, "t1"), Lease)


async def test_a_change_of_the_fleet_wakes_everybody(redis_url: str) -> None:
    async with replica(redis_url) as one:
        heard: list[str] = []

        async def listen() -> None:
            async with one.link.subscribed(keys.wake_channel(POOL)) as messages:
                heard.append("listening")
                async for _, text in messages:
                    heard.append(text)
                    return

        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            group.create_task(listen())
            await until(lambda: bool(heard))
            await one.worker()
        assert heard[1] == "*|"


async def test_a_subscription_ends_with_its_connection(redis_url: str) -> None:
    async with replica(redis_url) as one:
        with suppress(StoreDown):
            async with one.link.subscribed("anything") as messages:
                await one.link.command("CLIENT", "KILL", "TYPE", "pubsub")
                async with asyncio.timeout(10):
                    async for _ in messages:
                        pass
                raise AssertionError("the subscription went on")


async def test_the_worker_is_chosen_when_the_slot_is_free_not_before(redis_url: str) -> None:
    """Late binding: preferred were w1 and w2, and w3 is free first."""
    async with replica(redis_url) as one:
        held = {}
        for name in ("w1", "w2", "w3"):
            await one.worker(name)
            held[name] = await one.lease(f"on-{name}", preferred=(name,))
        await one.wait("t1", preferred=("w1", "w2"))
        await one.capacity.release(held["w3"], "yes")
        assert (await one.accept("t1")).worker == "w3"


async def test_preferred_workers_are_tried_in_order(redis_url: str) -> None:
    async with replica(redis_url) as one:
        for name in ("w1", "w2", "w3"):
            await one.worker(name)
        taken = [(await one.lease(f"t{n}", preferred=("w3", "w2"))).worker for n in range(3)]
        assert taken == ["w3", "w2", "w1"]


async def test_a_preferred_worker_of_another_lane_is_not_given(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", lanes=("b",))
        await one.worker("w2", lanes=("a",))
        assert (await one.lease("t1", preferred=("w1", "nobody"))).worker == "w2"


async def test_avoided_workers_are_not_given(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        await one.worker("w2")
        assert (await one.lease("t1", avoid=("w1",))).worker == "w2"
        await one.wait("t2", avoid=("w1",), preferred=("w1",))
        assert await one.tend() == ()
        look()


async def test_a_worker_of_two_lanes_takes_the_best_over_both(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker(lanes=("a", "b"))
        held = await one.lease("t0")
        await one.wait("a-second", lane="a", rank=2)
        await one.wait("b-first", lane="b", rank=1)
        await one.wait("b-third", lane="b", rank=3)
        served = []
        for _ in range(3):
            await one.capacity.release(held, "yes")
            (ticket,) = await one.tend()
            served.append(ticket)
            held = await one.accept(ticket)
        assert served == ["b-first", "a-second", "b-third"]


async def test_a_pinned_lane_is_served_only_where_it_is_loaded(redis_url: str) -> None:
    """A LoRA that a worker carries server-wide is a lane of its own; the plain lane has no part in it."""
    async with replica(redis_url) as one:
        await one.worker("plain", lanes=("sdxl",))
        await one.worker("pinned", lanes=("sdxl+inkwash",))
        assert (await one.lease("t1", lane="sdxl+inkwash")).worker == "pinned"
        assert (await one.lease("t2", lane="sdxl")).worker == "plain"
        assert await one.ask("t3", lane="sdxl") == Standing(0)
        assert await one.ask("t4", lane="sdxl+inkwash") == Standing(0)
        assert await one.tend() == ()


async def test_lanes_with_a_common_beginning_are_two_lanes(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", lanes=("sd",))
        await one.worker("w2", lanes=("sdxl",))
        assert (await one.lease("t1", lane="sdxl")).worker == "w2"
        assert await one.ask("t2", lane="sdxl") == Standing(0)
        assert (await one.lease("t3", lane="sd")).worker == "w1"


async def test_nobody_starves_behind_heads_that_avoid_the_worker(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        held = await one.lease("t0")
        for number in range(40):
            await one.wait(f"picky{number:02}", rank=number, avoid=("w1",))
        await one.wait("easy", rank=99)
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("easy",)
        look()


async def test_nobody_starves_behind_heads_that_are_too_long_for_a_notice(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        held = await one.lease("t0")
        for number in range(40):
            await one.wait(f"long{number:02}", rank=number, need=500)
        await one.wait("short", rank=99, need=1)
        await one.control.block(POOL, "c1", ["n1"], 100, 200)
        await one.capacity.release(held, "yes")
        assert await one.tend() == ("short",)
        look()


async def test_every_lane_is_tended_however_many_there_are(redis_url: str, look: Look) -> None:
    """More lanes than one heartbeat looks at: the next one goes on where it stopped."""
    lanes = [f"lane{number:03}" for number in range(100)]
    async with replica(redis_url) as one:
        await one.worker("w1", slots=0, lanes=("lane099",))
        for lane in lanes:
            await one.wait(f"t-{lane}", lane=lane)
        await one.control.flag_pool(POOL, True)
        await one.worker("w1", slots=1, lanes=("lane099",))
        await one.control.flag_pool(POOL, False)
        offered: list[str] = []
        for _ in range(5):
            offered += await one.tend()
        assert set(offered) == {"t-lane099"}
        look()


async def test_a_snapshot_lists_waiters_of_every_lane(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", slots=0, lanes=("a", "b"))
        for number in range(700):
            await one.wait(f"a{number}", lane="a", rank=number)
        await one.wait("b1", lane="b", rank=0.5)
        view = (await take_picture(one.link, one.clock, POOL)).view
        assert view.waiting == 701
        assert {waiter.lane for waiter in view.queue} == {"a", "b"}
        assert [waiter.rank for waiter in view.queue] == sorted(waiter.rank for waiter in view.queue)
        assert len(view.queue) <= 512


async def test_an_offer_comes_with_the_next_question(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("t1")
        await one.capacity.release(held, "yes")
        assert await one.ask("t1", rank=3, lease="t1.2") == Offered()
        assert (await one.accept("t1")).worker == "w1"
