"""Passes of the roster: what the sources say becomes what the store has, and no server is there twice."""

from __future__ import annotations

from router.fleet.rostering import reconcile
from router.store.capacity import Lease, Refused, Standing
from router.store.roster import WorkerRecord
from tests.store.replica import POOL, Replica, replica

A, B = "http://a:1", "http://b:1"


def worker(name: str, url: str, pool: str = POOL, slots: int = 1) -> WorkerRecord:
    return WorkerRecord(name, pool, f"node-{name}", url, slots, ("a",))


async def passes(one: Replica, *workers: WorkerRecord) -> dict[str, str]:
    """One pass, in which all that answer are found well; the addresses of the pool's workers after it."""
    await reconcile(one.roster, [POOL, "q"], workers)
    for it in workers:
        await one.roster.seen(it.pool, it.id, up=True, idle_since=None, boot=None, url=it.url)
    return dict(await one.roster.known(POOL))


async def test_what_is_listed_is_written_and_what_is_not_goes(redis_url: str) -> None:
    async with replica(redis_url, pools=(POOL, "q")) as one:
        assert await passes(one, worker("w1", A), worker("w2", B)) == {"w1": A, "w2": B}
        assert await passes(one, worker("w2", B)) == {"w2": B}
        assert await passes(one, worker("w2", A)) == {"w2": A}


async def test_a_renamed_worker_is_not_given_out_twice(redis_url: str) -> None:
    async with replica(redis_url, pools=(POOL, "q")) as one:
        await passes(one, worker("old", A), worker("w2", B, slots=0))
        lease = await one.lease("t1")
        for _ in range(2):
            assert await passes(one, worker("new", A + "/"), worker("w2", B, slots=0)) == {"old": A, "w2": B}
        assert await one.ask("t2") == Standing(0)
        await one.capacity.release(lease, "unknown")
        assert "new" not in await passes(one, worker("new", A))
        await one.capacity.release(lease, "yes")
        assert await passes(one, worker("new", A)) == {"new": A}
        assert await one.tend() == ("t2",)


async def test_a_worker_that_moves_to_another_pool_is_not_given_out_twice(redis_url: str) -> None:
    async with replica(redis_url, pools=(POOL, "q")) as one:
        await passes(one, worker("w1", A))
        lease = await one.lease("t1")
        await passes(one, worker("w1", A, "q"))
        assert await one.roster.known("q") == {}
        await one.capacity.release(lease, "yes")
        assert await passes(one, worker("w1", A, "q")) == {}
        assert await one.roster.known("q") == {"w1": A}


async def test_two_workers_that_change_places_do_not_wait_for_each_other(redis_url: str) -> None:
    async with replica(redis_url, pools=(POOL, "q")) as one:
        await passes(one, worker("w1", A), worker("w2", B))
        first, second = await one.lease("t1"), await one.lease("t2")
        changed = worker("w1", B), worker("w2", A)
        assert await passes(one, *changed) == {"w1": A, "w2": B}
        await one.capacity.release(first, "yes")
        assert len(await passes(one, *changed)) == 1
        assert await one.ask("t3") == Standing(0)
        await one.capacity.release(second, "yes")
        await passes(one, *changed)
        assert await passes(one, *changed) == {"w1": B, "w2": A}
        assert await one.tend() == ("t3",)


async def test_a_change_that_is_taken_back_ends_the_drain(redis_url: str) -> None:
    async with replica(redis_url, pools=(POOL, "q")) as one:
        await passes(one, worker("w1", A, slots=2))
        await one.lease("t1")
        await passes(one, worker("w1", B, slots=2))
        assert await one.ask("t2", queue=False) == Refused("no_free_slot")
        await passes(one, worker("w1", A, slots=2))
        assert isinstance(await one.ask("t3"), Lease)
