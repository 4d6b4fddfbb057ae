"""A store that stands still: nothing that runs is given up, and nobody waits for it longer than agreed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis

from router.store.capacity import Lease, Refused, Standing
from router.store.link import StoreCold, StoreDown, open_link
from tests.conftest import Valkey
from tests.store.raw import check, dump
from tests.store.replica import POOL, replica, until

pytestmark = pytest.mark.chaos


@contextmanager
def frozen(server: Valkey) -> Iterator[None]:
    """The server's process stands still."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def past(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))


@pytest.fixture
def raw_client(own_valkey: Valkey) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(own_valkey.url, decode_responses=True) as opened:
        yield opened


async def test_nothing_is_freed_before_its_owner_can_renew(
    own_valkey: Valkey, raw_client: redis.Redis
) -> None:
    """Frozen for three lease times: the first call afterwards comes from a stranger."""
    times = {"lease_s": 0.6, "offer_s": 0.2, "freeze_s": 0.5}
    async with replica(own_valkey.url, "r1", **times) as one, replica(own_valkey.url, "r2", **times) as two:
        await one.worker(slots=3)
        leases = [await one.lease(f"t{number}") for number in range(2)]
        ghost = await one.lease("ghost", budget=0.1)
        await one.capacity.release(ghost, "unknown")
        with frozen(own_valkey):
            await past(time.monotonic() + 1.8)
        assert await two.ask("newcomer") == Standing(0)
        states = {name: it["state"] for name, it in dump(raw_client).leases.items()}
        assert states == {"t0.1": "leased", "t1.1": "leased", "ghost.1": "ghost"}
        assert await one.capacity.renew(POOL, [lease.id for lease in leases]) == set()
        check(dump(raw_client))


async def test_a_pause_of_clients_counts_as_a_freeze(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url, lease_s=0.4, freeze_s=0.3) as one:
        await one.worker()
        lease = await one.lease("t1")
        await one.link.command("CLIENT", "PAUSE", "600", "ALL")
        assert await one.ask("t2") == Standing(0)
        assert dump(client).leases[lease.id]["state"] == "leased"
        assert await one.capacity.renew(POOL, [lease.id]) == set()


async def test_reaping_goes_on_a_lease_time_after_the_freeze(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url, lease_s=0.4, freeze_s=0.3) as one:
        await one.worker()
        lease = await one.lease("t1")
        await one.link.command("CLIENT", "PAUSE", "600", "ALL")
        await one.tend()
        thawed = time.monotonic()
        while dump(client).leases[lease.id]["state"] == "leased":
            await one.tend()
            assert time.monotonic() < thawed + 5
            await asyncio.sleep(0.02)
        assert time.monotonic() - thawed > 0.35


async def test_offers_of_a_frozen_store_can_still_be_taken(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url, offer_s=0.2, lease_s=0.4, freeze_s=0.3) as one:
        await one.worker()
        held = await one.lease("t0")
        await one.wait("t1")
        await one.capacity.release(held, "yes")
        await one.link.command("CLIENT", "PAUSE", "600", "ALL")
        assert await one.tend() == ("t1",)
        assert (await one.accept("t1")).worker == "w1"


async def test_every_call_ends_in_time_while_the_store_is_frozen(own_valkey: Valkey) -> None:
    async with replica(own_valkey.url, timeout_s=0.3) as one:
        await one.worker()
        with frozen(own_valkey):
            for _ in range(3):
                began = time.monotonic()
                calls = [one.ask(f"t{number}") for number in range(50)]
                got = await asyncio.gather(*calls, return_exceptions=True)
                assert {type(reply) for reply in got} == {StoreDown}
                assert time.monotonic() - began < 1.0
            began = time.monotonic()
            with pytest.raises(StoreDown):
                async with one.link.subscribed("anything"):
                    pass
            assert time.monotonic() - began < 1.0
        await until(lambda: _answers(own_valkey))
        assert isinstance(await _at_last(one.ask, "late"), Lease)


async def test_a_call_that_timed_out_is_undone_by_its_id(own_valkey: Valkey, raw_client: redis.Redis) -> None:
    """The frozen server runs the call when it wakes up; forgetting its lease id ends what it took."""
    async with replica(own_valkey.url, timeout_s=0.3) as one:
        await one.worker()
        with frozen(own_valkey), pytest.raises(StoreDown):
            await one.ask("t1")
        await until(lambda: _answers(own_valkey))
        await _at_last(one.capacity.forget, POOL, "t1.1")
        assert await one.ask("t1") == Refused("ended")
        assert dump(raw_client).leases == {}
        check(dump(raw_client))


async def test_a_dead_store_is_down_at_once_and_cold_when_it_is_back(own_valkey: Valkey) -> None:
    async with replica(own_valkey.url, timeout_s=1.0) as one:
        await one.worker()
        os.kill(own_valkey.pid, signal.SIGKILL)
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises(StoreDown):
                await one.tend()
            assert time.monotonic() - began < 1.0


async def test_a_store_without_its_data_is_cold(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url) as one:
        await one.worker()
        client.flushall()
        with pytest.raises(StoreCold):
            await one.ask("t1")
        assert issubclass(StoreCold, StoreDown)


async def test_nobody_listens_at_that_address(redis_url: str) -> None:
    async with open_link("redis://127.0.0.1:1/0", 0.5, 0.5) as link:
        with pytest.raises(StoreDown):
            await link.command("PING")


async def test_the_link_says_down_when_the_scope_is_over(redis_url: str) -> None:
    async with open_link(redis_url, 1, 1) as link:
        assert await link.command("PING") == "PONG"
    with pytest.raises(StoreDown):
        await link.command("PING")


async def test_who_waits_when_the_scope_ends_is_told(own_valkey: Valkey) -> None:
    with frozen(own_valkey):
        async with open_link(own_valkey.url, 5, 5) as link:
            waiting = asyncio.ensure_future(link.command("PING"))
            await asyncio.sleep(0)
        with pytest.raises(StoreDown):
            await waiting


def _answers(server: Valkey) -> bool:
    with redis.Redis.from_url(server.url, socket_timeout=0.5) as probe:
        return bool(probe.ping())


async def _at_last(call: object, *args: object) -> object:
    """The first answer; a connection that was closed while frozen takes one call to be noticed."""
    end = time.monotonic() + 10
    while True:
        try:
            return await call(*args)  # type: ignore[operator]
        except StoreDown:
            assert time.monotonic() < end
