"""Claims and flags by compare-and-set, a line in the audit stream for each change, and one leader."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
import redis

from router.model.claim import Claim, Flag, Phase
from router.store import keys
from router.store.control import Conflict
from tests.store.replica import replica

CLAIM = Claim(
    revision=0,
    id="c1",
    nodes=("n1", "n2"),
    owner="training",
    reason='a run called "revision":7, on purpose',
    actor="ops",
    phase=Phase.REQUESTED,
    requested_at=1.5,
    drain_at=2.0,
    cut_at=3.0,
    expires_at=4.0,
    notice_s=0.5,
    grace_s=1.0,
    ttl_s=100.0,
)
FLAG = Flag(revision=0, kind="node", name="n1", reason="fan", actor="ops", set_at=1.0, expires_at=None)


async def test_a_claim_is_what_was_written(redis_url: str) -> None:
    async with replica(redis_url) as one:
        written = await one.control.put_claim(CLAIM, action="claim_requested", actor="ops")
        assert written == replace(CLAIM, revision=written.revision)
        assert await one.control.claim("c1") == written
        assert await one.control.claims() == [written]
        assert await one.control.claim("c2") is None
        held = await one.control.put_claim(
            replace(written, phase=Phase.HELD), action="claim_held", actor="leader"
        )
        assert held.revision > written.revision
        assert (await one.control.claims())[0].phase is Phase.HELD


async def test_who_wrote_in_between_wins(redis_url: str) -> None:
    async with replica(redis_url) as one:
        first = await one.control.put_claim(CLAIM, action="a", actor="x")
        with pytest.raises(Conflict) as twice:
            await one.control.put_claim(CLAIM, action="a", actor="y")
        assert twice.value.standing is not None
        assert twice.value.standing["revision"] == first.revision
        second = await one.control.put_claim(replace(first, reason="b"), action="a", actor="x")
        with pytest.raises(Conflict):
            await one.control.put_claim(replace(first, reason="c"), action="a", actor="y")
        assert await one.control.claim("c1") == second
        with pytest.raises(Conflict) as gone:
            await one.control.put_claim(replace(first, id="c9"), action="a", actor="y")
        assert gone.value.standing is None


async def test_of_many_at_once_one_wins(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        calls = [
            (one if n % 2 else two).control.put_claim(
                replace(CLAIM, owner=f"o{n}"), action="a", actor=f"o{n}"
            )
            for n in range(40)
        ]
        got = await asyncio.gather(*calls, return_exceptions=True)
        (winner,) = [claim for claim in got if isinstance(claim, Claim)]
        assert sum(isinstance(lost, Conflict) for lost in got) == 39
        assert await one.control.claim("c1") == winner
        assert len(await one.control.audit(100)) == 1


async def test_flags(redis_url: str) -> None:
    async with replica(redis_url) as one:
        first = await one.control.put_flag(FLAG, actor="ops")
        assert await one.control.flags() == [first]
        with pytest.raises(Conflict):
            await one.control.put_flag(FLAG, actor="ops")
        forced = await one.control.put_flag(replace(FLAG, revision=-1, reason="noise"), actor="ops")
        assert [flag.reason for flag in await one.control.flags()] == ["noise"]
        assert forced.revision > first.revision
        await one.control.drop_flag("node/n1", actor="ops")
        assert await one.control.flags() == []


async def test_every_change_has_its_line_and_no_other_thing_has_one(redis_url: str) -> None:
    async with replica(redis_url) as one:
        claim = await one.control.put_claim(CLAIM, action="claim_requested", actor="ann")
        flag = await one.control.put_flag(FLAG, actor="bob")
        with pytest.raises(Conflict):
            await one.control.put_flag(FLAG, actor="eve")
        await one.control.drop_flag(flag.id, actor="bob", action="flag_expired")
        await one.control.drop_flag(flag.id, actor="bob")
        lines = await one.control.audit(10)
        assert [(line["action"], line["actor"]) for line in lines] == [
            ("flag_expired", "bob"),
            ("flag_set", "bob"),
            ("claim_requested", "ann"),
        ]
        assert lines[2]["record"]["id"] == claim.id
        assert lines[2]["record"]["reason"] == CLAIM.reason
        assert all(abs(line["at"] - time.time()) < 60 for line in lines)
        assert len(await one.control.audit(1)) == 1


async def test_the_audit_stream_is_bounded(redis_url: str, client: redis.Redis) -> None:
    async with replica(redis_url) as one:
        pipe = client.pipeline(transaction=False)
        for _ in range(10_200):
            pipe.xadd(keys.control("audit"), {"line": "{}"})
        pipe.execute()
        await one.control.put_flag(FLAG, actor="ops")
        assert client.xlen(keys.control("audit")) <= 10_100


async def test_ended_claims_are_forgotten_but_for_the_latest(redis_url: str) -> None:
    async with replica(redis_url) as one:
        for number in range(203):
            phase = Phase.DRAINING if number == 0 else Phase.RELEASED
            claim = replace(CLAIM, id=f"c{number:03}", requested_at=float(number), phase=phase)
            await one.control.put_claim(claim, action="a", actor="x")
        await one.control.forget_ended(await one.control.claims())
        left = [claim.id for claim in await one.control.claims()]
        assert left == ["c000", *(f"c{number:03}" for number in range(3, 203))]


async def test_there_is_one_leader_and_a_lease_that_ends_makes_another(redis_url: str) -> None:
    async with replica(redis_url) as one, replica(redis_url, "r2") as two:
        assert await one.control.lead("r1", 5)
        assert not await two.control.lead("r2", 5)
        assert await one.control.lead("r1", 0.3)
        tried: list[bool] = []
        began = time.monotonic()
        while not (tried and tried[-1]):
            tried.append(await two.control.lead("r2", 5))
            assert time.monotonic() - began < 5
            await asyncio.sleep(0.01)
        assert time.monotonic() - began > 0.2
        assert not await one.control.lead("r1", 5)


async def test_of_many_candidates_one_leads(redis_url: str) -> None:
    async with replica(redis_url) as one:
        got = await asyncio.gather(*(one.control.lead(f"r{number}", 5) for number in range(20)))
        assert sum(got) == 1
