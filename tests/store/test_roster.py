"""Workers as their source writes them and as probes find them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from router.model.claim import Occupancy
from router.store import keys
from router.store.capacity import Lease, Standing, StoreSchema
from router.store.picture import take_picture
from router.store.roster import WorkerRecord
from tests.store.raw import Dump
from tests.store.replica import POOL, replica

Look = Callable[[], Dump]


async def test_a_new_worker_takes_nothing_before_a_probe_has_found_it(redis_url: str) -> None:
    async with replica(redis_url) as one:
        record = WorkerRecord("w1", POOL, "n1", "http://w1", 1, ("a",))
        assert await one.roster.put(record) == "new"
        assert await one.roster.put(record) == "same"
        await one.wait("t1")
        await one.roster.seen(POOL, "w1", up=True, idle_since=None, boot=None)
        assert await one.tend() == ("t1",)
        assert await one.roster.known(POOL) == {"w1": "http://w1"}


async def test_a_store_that_never_knew_a_worker_wants_to_see_it_idle_first(redis_url: str) -> None:
    """The store may have lost its data while the worker computes: an idle answer proves that it does not."""
    async with replica(redis_url) as one:

        async def probed(idle_since: float | None) -> None:
            await one.roster.seen(POOL, "w1", up=True, idle_since=idle_since, boot=None, reports_idle=True)

        await one.roster.put(WorkerRecord("w1", POOL, "n1", "http://w1", 1, ("a",)))
        await one.wait("t1")
        await probed(None)
        assert await one.tend() == ()
        await probed(one.clock.now())
        assert await one.tend() == ("t1",)
        await probed(None)
        assert (await take_picture(one.link, one.clock, POOL)).view.workers[0].up


async def test_what_probes_found_survives_a_changed_record(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        await one.roster.put(WorkerRecord("w1", POOL, "node-2", "http://w1", 2, ("a", "b")))
        assert (await one.lease("t1", lane="b")).node == "node-2"


async def test_another_address_is_another_server(redis_url: str, look: Look) -> None:
    """Of a server at another address nothing is known, whatever was known of the last one."""
    async with replica(redis_url) as one:
        moved = WorkerRecord("w1", POOL, "node-w1", "http://elsewhere", 1, ("a",))
        await one.worker("w1")
        await one.roster.seen(POOL, "w1", up=True, idle_since=one.clock.now(), boot="first")
        assert await one.roster.put(moved) == "changed"
        worker = look().workers["w1"]
        assert (worker["url"], worker["up"], worker["drain"]) == ("http://elsewhere", 0, 0)
        assert not {"boot", "seen", "trusted"} & set(worker)
        assert await one.ask("t1") == Standing(0)
        await one.roster.seen(POOL, "w1", up=True, idle_since=None, boot=None, url="http://elsewhere")
        assert await one.tend() == ("t1",)


async def test_an_address_changes_once_nothing_runs_at_the_last_one(redis_url: str, look: Look) -> None:
    """What the new server answers meanwhile proves nothing about the old one."""
    async with replica(redis_url) as one:
        moved = WorkerRecord("w1", POOL, "node-w1", "http://elsewhere", 2, ("a",))
        await one.worker("w1", slots=2)
        lease = await one.lease("t1")
        assert await one.roster.put(moved) == "busy"
        assert await one.roster.put(moved) == "busy"
        assert await one.ask("t2") == Standing(0)
        await one.capacity.release(lease, "unknown")
        proof = one.clock.now() + 5
        for url, ended in (("http://elsewhere", 0), ("http://w1", 1)):
            found = {"up": True, "idle_since": proof, "boot": "b", "url": url}
            assert await one.roster.seen(POOL, "w1", **found) == ended
        assert await one.roster.put(moved) == "changed"
        assert look().workers["w1"]["url"] == "http://elsewhere"


async def test_an_offer_is_no_reason_to_keep_an_address(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        lease = await one.lease("t1")
        await one.wait("t2")
        await one.capacity.release(lease, "yes")
        assert {it["state"] for it in look().leases.values()} == {"offered"}
        assert await one.roster.put(WorkerRecord("w1", POOL, "n", "http://elsewhere", 1, ("a",))) == "changed"
        assert await one.capacity.accept(POOL, "t2") == Standing(0)


async def test_a_probe_without_a_verdict_leaves_a_worker_as_it_is(redis_url: str) -> None:
    async with replica(redis_url) as one:
        for name in ("up", "down"):
            await one.worker(name)
            await one.roster.seen(POOL, name, up=name == "up", idle_since=None, boot=None)
            await one.roster.seen(POOL, name, up=None, idle_since=None, boot=None)
        views = (await take_picture(one.link, one.clock, POOL)).view.workers
        assert {view.id: view.up for view in views} == {"up": True, "down": False}


async def test_more_slots_serve_more_waiters(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        await one.lease("t0")
        await one.wait("t1")
        await one.worker("w1", slots=2)
        assert await one.tend() == ("t1",)
        look()


async def test_fewer_slots_cut_nothing_that_runs(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", slots=3)
        leases = [await one.lease(f"t{number}") for number in range(3)]
        await one.worker("w1", slots=1)
        assert await one.capacity.renew(POOL, [lease.id for lease in leases]) == set()
        await one.wait("t9")
        await one.capacity.release(leases[0], "yes")
        await one.capacity.release(leases[1], "yes")
        assert await one.tend() == ()
        await one.capacity.release(leases[2], "yes")
        assert await one.tend() == ("t9",)


async def test_another_lane_frees_a_worker_for_its_waiters(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", lanes=("a",))
        await one.wait("t1", lane="b")
        await one.worker("w1", lanes=("b",))
        assert await one.tend() == ("t1",)
        assert await one.ask("t2", lane="a") == Standing(0)
        look()


async def test_a_removed_worker_drains(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", slots=2)
        running = await one.lease("t1")
        other = await one.lease("t2")
        await one.wait("t3")
        await one.capacity.release(other, "yes")
        assert await one.roster.drop(POOL, "w1") == "draining"
        assert await one.capacity.accept(POOL, "t3") == Standing(0)
        assert await one.capacity.renew(POOL, [running.id]) == set()
        assert await one.roster.drop(POOL, "w1") == "draining"
        await one.capacity.release(running, "unknown")
        assert await one.roster.drop(POOL, "w1") == "draining"
        await one.capacity.release(running, "yes")
        assert await one.roster.drop(POOL, "w1") == "dropped"
        assert await one.roster.drop(POOL, "w1") == "unknown"
        seen = look()
        assert (seen.workers, seen.free, seen.nodes["node-w1"]["workers"]) == ({}, set(), "")


async def test_a_worker_that_is_listed_again_takes_work_again(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1")
        lease = await one.lease("t1")
        await one.roster.drop(POOL, "w1")
        await one.worker("w1")
        await one.capacity.release(lease, "yes")
        assert isinstance(await one.ask("t2"), Lease)


async def test_coming_and_going_does_not_make_records_longer(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        await one.worker("w.1", node="n1")
        await one.worker("w1", node="n1")
        for _ in range(20):
            await one.worker("w-2", node="n1")
            assert await one.roster.drop(POOL, "w-2") == "dropped"
        assert look().nodes["n1"]["workers"] == "w.1|w1"
        assert await one.roster.drop(POOL, "w.1") == "dropped"
        assert look().nodes["n1"]["workers"] == "w1"


async def test_work_stays_on_the_node_it_was_given_to(redis_url: str, look: Look) -> None:
    """The same worker id on another node: what was started on the first still occupies the first."""
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1", slots=2)
        lease = await one.lease("t1")
        await one.worker("w1", node="n2", slots=2)
        await one.lease("t2")
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(1, 0, 0)
        assert await one.capacity.occupancy(POOL, ["n2"]) == Occupancy(1, 0, 0)
        await one.capacity.release(lease, "yes")
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(0, 0, 0)
        look()


async def test_a_probe_of_a_stranger_changes_nothing(redis_url: str, look: Look) -> None:
    async with replica(redis_url) as one:
        assert await one.roster.seen(POOL, "who", up=True, idle_since=1.0, boot="b") == 0
        assert look().workers == {}


async def test_the_picture_shows_what_is_held(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1", slots=3)
        lease = await one.lease("t1", need=5)
        picture = await take_picture(one.link, one.clock, POOL)
        (worker,) = picture.view.workers
        (held,) = picture.leases
        assert (worker.id, worker.node, worker.url, worker.slots, worker.free) == (
            "w1",
            "n1",
            "http://w1",
            3,
            2,
        )
        assert worker.takes_work
        assert (held.worker, held.ticket, held.replica, held.state) == ("w1", "t1", "r1", "leased")
        assert held.fence == lease.fence
        assert abs(worker.ends[0] - one.clock.now() - 5) < 2


async def test_data_of_another_version_refuses_to_open(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.link.command("HSET", keys.pool(POOL)[0], "schema", "0")
        with pytest.raises(StoreSchema, match="another version"):
            await one.capacity.open_pool(POOL, 1, 1, 1, 1)
