"""A claim is held only where it is closed, whoever leads, whatever was lost and whosever clock is wrong."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import pytest
import redis

from router.fleet.claims import ClaimConflict, Claims
from router.fleet.steering import Steering
from router.model.claim import ENDED, Claim, Occupancy, Phase
from router.store import keys
from router.store.capacity import Capacity, Lease, Standing
from router.store.clock import StoreClock
from router.store.control import Control
from router.store.link import StoreDown
from router.store.picture import take_picture
from tests.conftest import Valkey
from tests.fleet.relay import relay
from tests.fleet.test_flags import THINGS
from tests.fleet.test_flags import desk as flag_desk
from tests.store.replica import POOL, Replica, replica

NODES = {"n1": (POOL,), "n2": (POOL,)}
_numbers = count()


def desk(one: Replica, nodes: Mapping[str, tuple[str, ...]] = NODES) -> Claims:
    return Claims(
        one.control, one.capacity, one.clock, nodes, lambda: f"clm_{next(_numbers)}", lambda event: None
    )


async def opened(claims: Claims, *nodes: str, notice_s: float = 0.0, owner: str = "training") -> Claim:
    return await claims.open(
        nodes=nodes or ("n1",),
        owner=owner,
        reason="night run",
        notice_s=notice_s,
        grace_s=5.0,
        ttl_s=3600.0,
        actor="ops",
    )


async def advanced(claims: Claims) -> Phase:
    """The phase of the only claim that is active, after one step of the leader."""
    (claim,) = [claim for claim in await claims.advance_all("leader") if claim.phase not in ENDED]
    return claim.phase


async def blocks(one: Replica, pool: str = POOL) -> dict[str, frozenset[str]]:
    found = (await take_picture(one.link, one.clock, pool)).blocks
    return {node: claims for node, claims in found.items() if claims}


async def test_a_claim_whose_reply_was_lost_is_what_was_asked_for(valkey: Valkey, redis_url: str) -> None:
    async with relay(valkey.host, valkey.port) as between, replica(between.url, timeout_s=0.5) as one:
        warm = desk(one)
        await warm.release((await opened(warm)).id, actor="ops")
        between.lose(b"claim_opened")
        claim = await opened(warm)
        assert await one.control.claim(claim.id) == claim
        assert await blocks(one) == {"n1": {claim.id}}
        assert await advanced(warm) is Phase.HELD


async def test_a_claim_that_was_not_written_leaves_no_block(redis_url: str) -> None:
    async with replica(redis_url) as one:
        with redis.Redis.from_url(redis_url) as raw:
            raw.hset(keys.control("meta"), "revision", "no number")
            with pytest.raises(StoreDown):
                await opened(desk(one))
        assert await one.control.claims() == []
        assert await blocks(one) == {}


async def test_a_claim_without_its_block_is_blocked_again_before_it_is_held(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        claims = desk(one)
        claim = await opened(claims)
        await one.control.unblock(POOL, claim.id, ["n1"])
        assert await advanced(claims) is Phase.DRAINING
        assert isinstance(await one.ask("t1", need=0.001), Standing)
        assert await advanced(claims) is Phase.HELD
        await one.control.unblock(POOL, claim.id, ["n1"])
        await advanced(claims)
        assert await blocks(one) == {"n1": {claim.id}}, "also when it is held already"


async def test_the_notice_ends_and_the_node_is_closed_for_good(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        claims = desk(one)
        claim = await opened(claims, notice_s=0.3)
        assert await advanced(claims) is Phase.REQUESTED
        assert isinstance(await one.ask("t1", need=0.001), Lease)
        await one.capacity.forget(POOL, "t1.1")
        await asyncio.sleep(0.35)
        assert await advanced(claims) is Phase.DRAINING
        assert await advanced(claims) is Phase.HELD
        closing = (await take_picture(one.link, one.clock, POOL)).closing["n1"]
        assert closing.closes_at == 0, "no step of the store's clock opens it"
        assert abs(closing.cut_at - claim.cut_at) < 1.0


@pytest.mark.parametrize("wrong_s", [-3600.0, 3600.0])
async def test_a_wrong_clock_of_a_replica_delays_no_claim(redis_url: str, wrong_s: float) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n1")
        clock = StoreClock(time.monotonic, lambda: time.time() + wrong_s)
        control, capacity = Control(one.link, clock), Capacity(one.link, clock, "r2", 2.0)
        claim = await opened(desk(replace(one, clock=clock, control=control, capacity=capacity)))
        assert isinstance(await one.ask("t1", need=0.001), Standing)
        assert await one.capacity.occupancy(POOL, ["n1"], claim.id) == Occupancy(0, 0, 0)
        closing = (await take_picture(one.link, one.clock, POOL)).closing["n1"]
        assert abs(closing.cut_at - one.clock.now() - 5) < 2


async def test_a_leader_with_another_config_sees_who_is_busy(redis_url: str) -> None:
    async with replica(redis_url, pools=("p", "q")) as one:
        await one.worker("w1", node="n2")
        lease = await one.lease("t1")
        old, new = desk(one), desk(one, {"n1": ("q",), "n2": ()})
        claim = await opened(old, "n2")
        assert claim.pools == ("p",)
        assert await advanced(new) is Phase.DRAINING
        assert await advanced(new) is Phase.DRAINING
        await one.capacity.release(lease, "yes")
        assert await advanced(new) is Phase.HELD
        await new.release(claim.id, actor="ops")
        assert [await blocks(one, pool) for pool in ("p", "q")] == [{}, {}]


async def test_a_node_that_a_config_has_emptied_is_blocked_all_the_same(redis_url: str) -> None:
    async with replica(redis_url) as one:
        await one.worker("w1", node="n2")
        await one.lease("t1")
        emptied = desk(one, {"n1": (POOL,), "n2": ()})
        await opened(emptied, "n2")
        assert await advanced(emptied) is Phase.DRAINING


async def test_a_leader_that_does_not_know_the_node_moves_its_claim_and_ends_it(redis_url: str) -> None:
    async with replica(redis_url) as one:
        claim = await opened(desk(one), "n1", "n2")
        other = desk(one, {"n3": (POOL,)})
        assert await advanced(other) is Phase.HELD
        assert (await other.release(claim.id, actor="ops")).phase is Phase.RELEASED
        assert await blocks(one) == {}


async def test_a_pool_that_is_gone_holds_up_its_own_claims_only(redis_url: str) -> None:
    async with replica(redis_url) as one:
        claims = desk(one)
        stuck, free = await opened(claims), await opened(claims, "n2")
        await one.control.put_claim(replace(stuck, pools=("gone", POOL)), action="a", actor="ops")
        moved = {claim.id: claim.phase for claim in await claims.advance_all("leader")}
        assert moved == {stuck.id: Phase.DRAINING, free.id: Phase.HELD}


async def test_of_one_owners_claims_at_once_one_stands(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        orders = [opened(desk(one if number % 2 else two), "n1", "n2") for number in range(12)]
        found = await asyncio.gather(*orders, return_exceptions=True)
        (claim,) = [it for it in found if isinstance(it, Claim)]
        lost = [it for it in found if isinstance(it, ClaimConflict)]
        assert len(lost) == 11
        assert {it.claim.id for it in lost} == {claim.id}
        assert await blocks(one) == {"n1": {claim.id}, "n2": {claim.id}}
        other = await opened(desk(one), owner="somebody else")
        await desk(one).release(claim.id, actor="ops")
        again = await opened(desk(one))
        assert await blocks(one) == {"n1": {other.id, again.id}}


async def test_a_block_is_not_put_on_a_claim_that_is_given_back(redis_url: str) -> None:
    async with replica(redis_url) as one:
        claims = desk(one)
        claim = await opened(claims)
        await claims.release(claim.id, actor="ops")
        await claims.block_again(claim)
        assert await blocks(one) == {}


async def test_a_claim_given_back_while_the_leader_moves_it_leaves_no_block(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        operator, leader = desk(one), desk(two)
        for number in range(25):
            claim = await opened(operator)
            step = asyncio.create_task(leader.advance_all("leader"))
            await asyncio.sleep(0.0003 * number)
            await operator.release(claim.id, actor="ops")
            await step
            assert await blocks(one) == {}, number


async def test_a_lost_block_is_mended_and_an_orphan_is_taken_off(redis_url: str) -> None:
    async with flag_desk(redis_url) as ops:
        one, claims = ops.one, desk(ops.one, THINGS.nodes)
        claim = await opened(claims, "n01", notice_s=600)
        moments, seen = iter((0.0, 6.0)), {POOL: await blocks(one)}
        steering = Steering(claims, ops.flags, one.control, lambda: seen, lambda: next(moments), "leader")
        await one.control.unblock(POOL, claim.id, ["n01"])
        await one.control.block(POOL, "orphan", ["n02"], 0, 0)
        for _ in range(2):
            seen = {POOL: await blocks(one)}
            await steering.mend(await one.control.claims())
        assert await blocks(one) == {"n01": {claim.id}}


async def test_fields_that_a_newer_version_wrote_are_passed_over(redis_url: str) -> None:
    async with replica(redis_url) as one:
        claims = desk(one)
        claim = await opened(claims)
        with redis.Redis.from_url(redis_url, decode_responses=True) as raw:
            record = json.loads(str(raw.hget(keys.control("claims"), claim.id)))
            del record["pools"], record["alarm"]
            raw.hset(keys.control("claims"), claim.id, json.dumps({**record, "rack": "r7"}))
        assert await one.control.claims() == [replace(claim, pools=())]
        assert await advanced(claims) is Phase.HELD
