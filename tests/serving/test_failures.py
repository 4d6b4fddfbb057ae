"""Back ends fail: the ticket is made elsewhere, nothing is paid twice, and one answer reaches the client."""

from __future__ import annotations

import pytest

from loadtests.emulators import Speed
from router.model.ticket import Tenant
from tests.serving.houses import House, house, until

pytestmark = pytest.mark.anyio
ALWAYS = -1


async def close_the_house(home: House) -> None:
    """All on-prem work is switched off, so that everything spills."""
    await home.parts.gate.flags.put(
        "pool", "onprem", reason="test", actor="test", expires_s=None, revision=None
    )
    await home.parts.lookout.watch_once("onprem")


async def test_a_worker_out_of_memory_costs_one_attempt(redis_url: str) -> None:
    async with house(redis_url) as home:
        await home.fleet.workers[0].faults.set({"kind": "oom", "times": ALWAYS})
        answers = [await home.make(home.ticket()) for _ in range(8)]
        assert {(answer.reason, answer.route) for answer in answers} == {("done", "onprem")}
        assert max(answer.attempts for answer in answers) == 2
        jobs = [row["job"] for row in home.fleet.ledger.rows("delivered")]
        assert len(jobs) == len(set(jobs)) + sum(answer.attempts - 1 for answer in answers)


@pytest.mark.parametrize(
    "kind", ["garbage", "empty_data", "truncated_image", "not_an_image", "wrong_size", "error500"]
)
async def test_a_fleet_that_makes_no_image_spills_after_two_workers(redis_url: str, kind: str) -> None:
    async with house(redis_url) as home:
        await home.fleet.set_faults({"kind": kind, "times": ALWAYS})
        answer = await home.make(home.ticket())
        assert (answer.reason, answer.route, answer.why, answer.attempts) == (
            "done",
            "external",
            "onprem_failed",
            3,
        )
        assert len({row["worker"] for row in home.fleet.ledger.rows("started")}) == 2
        assert home.fal.ledger.count("billed") == 1


async def test_a_poisonous_ticket_kills_two_workers_at_most(redis_url: str) -> None:
    async with house(redis_url) as home:
        await home.fleet.set_faults({"kind": "die_midway", "times": ALWAYS, "match_prompt": "poison"})
        answer = await home.make(home.ticket(prompt="poison"))
        assert (answer.reason, answer.paid) == ("upstream_error", False)
        assert home.fleet.ledger.count("died") == 2


async def test_a_busy_worker_is_no_failure(redis_url: str) -> None:
    async with house(redis_url, 2) as home:
        await home.fleet.workers[0].faults.set({"kind": "busy409", "times": 3})
        answers = [await home.make(home.ticket()) for _ in range(4)]
        assert {(answer.reason, answer.route) for answer in answers} == {("done", "onprem")}


async def test_an_ambiguous_submit_is_never_repeated(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "submit_reply_lost", "times": ALWAYS})
        answer = await home.make(home.ticket(3.0))
        assert (answer.reason, answer.paid, answer.retryable) == ("upstream_error", True, False)
        assert home.fal.ledger.count("submitted") == 1


async def test_a_tenant_may_allow_the_second_payment(redis_url: str) -> None:
    rich = Tenant("house", allow_double_spend=True)
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "submit_reply_lost", "times": 1})
        answer = await home.make(home.ticket(5.0, tenant=rich))
        assert answer.reason in ("done", "upstream_error")


async def test_policy_refusals_never_move(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "content_policy", "times": ALWAYS})
        answer = await home.make(home.ticket(5.0))
        assert (answer.reason, answer.attempts, answer.retryable) == ("content_policy", 1, False)


async def test_the_retry_after_of_a_provider_is_obeyed_by_everybody(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "rate_limited", "times": 1, "retry_after": 2})
        asked = home.parts.gate.clock.monotonic()
        answer = await home.make(home.ticket(8.0))
        assert answer.reason == "done"
        assert home.parts.gate.clock.monotonic() - asked >= 1.9


async def test_images_that_were_made_are_not_bought_again(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "missing_image", "times": 1})
        answer = await home.make(home.ticket(count=3))
        units = [row["units"] for row in home.fal.ledger.rows("billed")]
        assert (answer.reason, answer.spent <= 3 * 30_000, sum(units) <= 6) == (
            "upstream_error",
            True,
            True,
        ) or (answer.reason == "done")


async def test_an_empty_budget_buys_nothing(redis_url: str) -> None:
    async with house(redis_url, pools__fal__daily_budget_usd="0.10") as home:
        await close_the_house(home)
        reasons = [(await home.make(home.ticket(2.0))).reason for _ in range(5)]
        assert reasons == ["done", "done", "done", "no_capacity", "no_capacity"]
        assert home.fal.ledger.count("billed") == 3


async def test_a_hanging_worker_is_left_and_its_slot_stays_taken(redis_url: str) -> None:
    async with house(redis_url, 2, Speed(fixed_s=0.05, per_step_mp_s=0.0)) as home:
        await home.fleet.workers[0].faults.set({"kind": "hang", "times": 1})
        await home.fleet.workers[1].faults.set({"kind": "hang", "times": 1})
        answer = await home.make(home.ticket(1.5))
        assert answer.reason == "deadline_exceeded"
        await until(
            lambda: [lease.state for lease in home.parts.lookout.pictures["onprem"].leases] == ["ghost"]
        )
