"""Training takes nodes: what happens to the tickets that run there, wait, and come."""

from __future__ import annotations

import asyncio

import pytest

from loadtests.emulators import Speed
from router.model.claim import Phase
from router.model.ticket import Tenant
from tests.serving.houses import House, house, until

pytestmark = pytest.mark.anyio

SLOW = Speed(fixed_s=1.0, per_step_mp_s=0.0)
SLOW_PROFILE = {"models__krea-2-turbo__profile": {"fixed_s": 1.0, "per_step_mp_s": 0.001, "spread": 0.1}}
NODE_1 = {"worker-0", "worker-1"}


async def claim(home: House, *nodes: str, notice_s: float = 0.0, grace_s: float = 5.0) -> str:
    opened = await home.parts.gate.claims.open(
        nodes=nodes,
        owner="training",
        reason="night run",
        notice_s=notice_s,
        grace_s=grace_s,
        ttl_s=3600,
        actor="test",
    )
    return opened.id


async def phase_of(home: House, claim_id: str) -> Phase:
    found = await home.parts.control.claim(claim_id)
    assert found is not None
    return found.phase


async def reached(home: House, claim_id: str, phase: Phase, within_s: float = 8.0) -> None:
    async with asyncio.timeout(within_s):
        while await phase_of(home, claim_id) is not phase:  # noqa: ASYNC110 (it is in another process)
            await asyncio.sleep(0.02)


async def test_an_idle_gang_is_held_at_once_and_nothing_starts_there(redis_url: str) -> None:
    async with house(redis_url) as home:
        claim_id = await claim(home, "node-1")
        await reached(home, claim_id, Phase.HELD, 2)
        answers = await asyncio.gather(*(home.make(home.ticket()) for _ in range(12)))
        assert {answer.reason for answer in answers} == {"done"}
        assert not {row["worker"] for row in home.fleet.ledger.rows("started")} & NODE_1
        await home.parts.gate.claims.release(claim_id, actor="test")
        assert await phase_of(home, claim_id) is Phase.RELEASED
        await asyncio.gather(*(home.make(home.ticket()) for _ in range(12)))
        assert {row["worker"] for row in home.fleet.ledger.rows("started")} & NODE_1


async def test_running_work_finishes_inside_the_grace(redis_url: str) -> None:
    async with house(redis_url, 2, SLOW, **SLOW_PROFILE) as home:
        running = [asyncio.ensure_future(home.make(home.ticket())) for _ in range(2)]
        await home.fleet.ledger.until(lambda ledger: ledger.count("started") == 2)
        claim_id = await claim(home, "node-1", grace_s=5)
        answers = await asyncio.gather(*running)
        assert {(answer.reason, answer.route, answer.attempts) for answer in answers} == {
            ("done", "onprem", 1)
        }
        await reached(home, claim_id, Phase.HELD)


async def test_work_past_the_grace_is_cut_and_made_elsewhere(redis_url: str) -> None:
    async with house(redis_url, 2, SLOW, **SLOW_PROFILE) as home:
        running = [asyncio.ensure_future(home.make(home.ticket())) for _ in range(2)]
        await home.fleet.ledger.until(lambda ledger: ledger.count("started") == 2)
        claim_id = await claim(home, "node-1", grace_s=0.2)
        answers = await asyncio.gather(*running)
        assert {(answer.reason, answer.route, answer.why) for answer in answers} == {
            ("done", "external", "onprem_claimed")
        }
        assert home.fal.ledger.count("billed") == 2
        await reached(home, claim_id, Phase.HELD)
        assert home.fleet.ledger.count("undelivered") == 2
        held = await home.parts.control.claim(claim_id)
        assert held is not None
        ends = [row["wall"] for row in home.fleet.ledger.rows("undelivered")]
        assert held.held_at is not None
        assert held.held_at >= max(ends) - 0.05, "held while the worker was still computing"


async def test_a_tenant_that_may_not_leave_the_house_waits_for_its_return(redis_url: str) -> None:
    private = Tenant("private", external=False)
    async with house(redis_url, 2) as home:
        claim_id = await claim(home, "node-1")
        await until(lambda: home.parts.lookout.pictures["onprem"].closing)
        refused = await home.make(home.ticket(2.0, tenant=private))
        assert (refused.reason, refused.paid) == ("no_capacity", False)
        assert home.fal.ledger.count("submitted") == 0
        await home.parts.gate.claims.release(claim_id, actor="test")
        assert (await home.make(home.ticket(tenant=private))).route == "onprem"


async def test_notice_lets_short_work_start_and_long_work_not(redis_url: str) -> None:
    async with house(redis_url, 2, SLOW, **SLOW_PROFILE) as home:
        await claim(home, "node-1", notice_s=1.8)
        await until(lambda: home.parts.lookout.pictures["onprem"].closing)
        short = asyncio.ensure_future(home.make(home.ticket()))
        await home.fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
        long = await home.make(home.ticket(count=4))
        assert long.route in ("external", "onprem")
        assert (await short).route == "onprem"
