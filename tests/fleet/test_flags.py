"""A flag and its switches agree in the end, whoever writes them and whatever the config has lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
import redis

from router.fleet.flags import Flags, Switchable, UnknownThing
from router.model.claim import Flag
from router.store import keys
from router.store.control import Conflict, Control
from router.store.ledger import Account, Ledger
from router.store.picture import take_picture
from tests.store.replica import POOL, Replica, replica

NODES = tuple(f"n{number:02}" for number in range(20))
THINGS = Switchable(dict.fromkeys(NODES, (POOL,)), (POOL,), ("fal",), ("krea",))


@dataclass(frozen=True)
class Desk:
    """One operator's side of a store."""

    one: Replica
    ledger: Ledger
    flags: Flags

    async def put(self, kind: str, name: str, *, expires_s: float | None = None) -> Flag:
        return await self.flags.put(kind, name, reason="x", actor="ops", expires_s=expires_s, revision=None)

    async def flagged(self) -> frozenset[str]:
        return (await take_picture(self.one.link, self.one.clock, POOL)).flagged

    def without(self, *names: str) -> Desk:
        """The same store as a replica sees it whose config has lost some nodes and all else but the pool."""
        left = Switchable({name: (POOL,) for name in NODES if name not in names}, (POOL,), (), ())
        return replace(self, flags=_flags(self.one.control, self.ledger, self.one, left))


def _flags(control: Control, ledger: Ledger, one: Replica, things: Switchable) -> Flags:
    return Flags(control, ledger, one.clock, things, lambda event: None)


@asynccontextmanager
async def desk(url: str) -> AsyncIterator[Desk]:
    async with replica(url) as one:
        ledger = Ledger(one.link, one.clock, [Account("fal", 5, 1000)])
        yield Desk(one, ledger, _flags(one.control, ledger, one, THINGS))


async def test_an_expired_flag_on_a_node_that_left_the_config_goes(redis_url: str) -> None:
    async with desk(redis_url) as old:
        for kind, name in (("node", "n00"), ("model", "krea"), ("provider", "fal")):
            await old.put(kind, name, expires_s=0.001)
        await asyncio.sleep(0.01)
        await old.without("n00").flags.sweep("leader")
        assert await old.flags.all() == []
        assert await old.flagged() == frozenset()
        views, _, _ = await old.ledger.views()
        assert views["fal"].open


async def test_a_flag_that_outlived_its_thing_can_be_cleared_once(redis_url: str) -> None:
    async with desk(redis_url) as old:
        await old.put("node", "n00")
        new = old.without("n00")
        await new.flags.clear("node", "n00", actor="ops")
        assert await old.flags.all() == []
        assert await old.flagged() == frozenset()
        with pytest.raises(UnknownThing):
            await new.flags.clear("node", "n00", actor="ops")
        with pytest.raises(UnknownThing):
            await new.put("node", "n00")


async def test_a_switch_that_was_lost_is_put_again(redis_url: str) -> None:
    async with desk(redis_url) as ops:
        await ops.put("node", "n01")
        await ops.one.control.flag_node(POOL, "n01", False)
        await ops.flags.sweep("leader")
        assert await ops.flagged() == {"n01"}


async def test_what_is_off_without_a_flag_is_switched_on(redis_url: str) -> None:
    async with desk(redis_url) as ops:
        await ops.put("node", "n01")
        await ops.one.control.flag_node(POOL, "n02", True)
        await ops.one.control.flag_pool(POOL, True)
        await ops.ledger.switch("fal", True)
        await ops.ledger.switch("overflow", True)
        await ops.flags.sweep("leader")
        picture = await take_picture(ops.one.link, ops.one.clock, POOL)
        views, _, overflow = await ops.ledger.views()
        assert (picture.flagged, picture.view.open) == ({"n01"}, True)
        assert (views["fal"].open, overflow) == (True, True)


async def test_a_flag_cleared_during_a_sweep_stays_cleared(redis_url: str) -> None:
    async with desk(redis_url) as ops, desk(redis_url) as leader:
        for name in NODES:
            await ops.put("node", name)
        for number in range(25):
            await ops.put("node", NODES[-1])
            sweep = asyncio.create_task(leader.flags.sweep("leader"))
            await asyncio.sleep(0.001 * number)
            await ops.flags.clear("node", NODES[-1], actor="ops")
            await sweep
            assert NODES[-1] not in await ops.flagged(), number


async def test_a_flag_put_during_a_sweep_is_off(redis_url: str) -> None:
    async with desk(redis_url) as ops, desk(redis_url) as leader:
        for name in NODES[:-1]:
            await ops.put("node", name)
        for number in range(25):
            await ops.flags.clear("node", NODES[-1], actor="ops")
            sweep = asyncio.create_task(leader.flags.sweep("leader"))
            await asyncio.sleep(0.001 * number)
            await ops.put("node", NODES[-1])
            await sweep
            assert NODES[-1] in await ops.flagged(), number


async def test_a_renewal_is_not_deleted_as_expired(redis_url: str) -> None:
    async with desk(redis_url) as ops:
        old = await ops.put("node", "n01", expires_s=0.001)
        renewed = await ops.put("node", "n01", expires_s=600)
        with pytest.raises(Conflict):
            await ops.one.control.drop_flag(old.id, actor="leader", revision=old.revision)
        await ops.flags.sweep("leader")
        assert await ops.flags.all() == [renewed]
        assert await ops.flagged() == {"n01"}


async def test_a_renewal_in_the_middle_of_a_sweep_stands(redis_url: str) -> None:
    async with desk(redis_url) as ops, desk(redis_url) as leader:
        for name in NODES[:-1]:
            await ops.put("node", name)
        for number in range(20):
            await ops.put("node", NODES[-1], expires_s=0.001)
            await asyncio.sleep(0.002)
            sweep = asyncio.create_task(leader.flags.sweep("leader"))
            await asyncio.sleep(0.001 * number)
            renewed = await ops.put("node", NODES[-1], expires_s=600)
            await sweep
            assert (await ops.flags.all())[-1] == renewed, number
            assert NODES[-1] in await ops.flagged(), number


async def test_fields_that_a_newer_version_wrote_are_passed_over(redis_url: str) -> None:
    async with desk(redis_url) as ops:
        flag = await ops.put("node", "n01")
        with redis.Redis.from_url(redis_url, decode_responses=True) as raw:
            _extend(raw, "flags", flag.id, ticket_url="https://tickets/1")
        assert await ops.flags.all() == [flag]
        await ops.flags.sweep("leader")
        assert await ops.flagged() == {"n01"}


def _extend(raw: redis.Redis, part: str, name: str, **more: Any) -> None:
    record = json.loads(str(raw.hget(keys.control(part), name)))
    raw.hset(keys.control(part), name, json.dumps({**record, **more}))
