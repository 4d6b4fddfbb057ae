"""What holds for every ticket, history, fleet and set of rules."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from providers.contract import Fault, Spent
from router.model.money import price_at
from router.model.step import External, OnPrem, Stop, Tried, Try, Wait
from router.policy.estimate import in_slot
from router.policy.placement import MAX_PREFERRED
from router.telemetry.labels import REASONS
from tests.policy.playbook import NOW, decide
from tests.policy.test_replay import can_be_replayed
from tests.policy.worlds import Case, cases


def is_always_the_same(case: Case) -> None:
    assert case.step == decide(case.asked, case.fleet, case.history, case.said)
    assert case.step.reason in REASONS | {"code"}


def waits_into_the_future_and_not_past_the_deadline(case: Case) -> None:
    if isinstance(case.step, Wait):
        assert NOW < case.step.until <= max(case.asked.deadline, NOW + 0.05)


def spends_only_where_it_may(case: Case) -> None:
    if not (isinstance(case.step, Try) and isinstance(case.step.placement, External)):
        return
    at, past, asked = case.step.placement, case.past, case.asked
    offer = next(one for one in case.said.models["krea"].offers if one.pool == at.pool)
    price, account = price_at(offer.prices, NOW), case.fleet.accounts[at.pool]
    assert asked.tenant.external
    assert case.fleet.overflow_open
    assert price is not None
    assert at.price == price.of(replace(asked.generation, count=past.missing(asked)))
    assert account.open
    assert account.committed + at.price <= account.budget
    assert account.in_flight < account.concurrency
    assert account.cooling_until <= NOW
    assert not past.paid_closed or asked.tenant.allow_double_spend
    assert past.barred.get(at.pool, 0.0) <= NOW
    assert offer.capabilities.refuses(asked.generation) is None
    assert all(lora.name in offer.loras for lora in asked.generation.loras)
    assert 0 < at.budget_s <= asked.deadline - NOW + 0.05


def asks_for_slots_at_its_own_rank(case: Case) -> None:
    if not (isinstance(case.step, Try) and isinstance(case.step.placement, OnPrem)):
        return
    at, past, asked, said = case.step.placement, case.past, case.asked, case.said
    wanted = replace(asked.generation, count=past.missing(asked))
    estimate = in_slot(said.models["krea"].profile, wanted, said.sigmas)
    assert at.rank == asked.deadline - estimate.upper - said.guard_s
    assert at.need_s == estimate.upper
    assert at.budget_s >= 10.0
    assert asked.deadline - estimate.mean >= NOW
    assert past.barred.get(at.pool, 0.0) <= NOW
    assert past.standing is None
    assert past.onprem_failures < said.max_onprem_failures


def prefers_workers_that_would_take_it(case: Case) -> None:
    if not (isinstance(case.step, Try) and isinstance(case.step.placement, OnPrem)):
        return
    at, past = case.step.placement, case.past
    assert len(at.preferred) <= MAX_PREFERRED
    assert len(set(at.preferred)) == len(at.preferred)
    assert not set(at.preferred) & (set(at.avoid) | set(past.shunned))
    serving = {worker.id: worker for worker in case.fleet.pools[at.pool].workers}
    for name in at.preferred:
        worker = serving[name]
        assert worker.takes_work
        assert worker.free
        assert at.lane in worker.lanes
        assert worker.closes_at is None or NOW + at.need_s <= worker.closes_at


def is_over_when_it_must_be(case: Case) -> None:
    past, asked = case.past, case.asked
    if past.missing(asked) <= 0:
        assert case.step == Stop("done")
    elif asked.deadline <= NOW or past.tries >= case.said.max_tries or past.deaths >= 2:
        assert isinstance(case.step, Stop)
    assert case.step.reason != "done" or past.missing(asked) <= 0


def says_when_to_come_back(case: Case) -> None:
    if isinstance(case.step, Stop) and case.step.reason in ("no_capacity", "model_off"):
        assert case.step.retry_after_s is not None
        assert 1.0 <= case.step.retry_after_s <= 120.0


def pays_nobody_while_the_overflow_is_closed(case: Case) -> None:
    step = decide(case.asked, replace(case.fleet, overflow_open=False), case.history, case.said)
    assert not (isinstance(step, Try) and isinstance(step.placement, External))


def pays_nobody_again_while_money_may_be_gone(case: Case) -> None:
    lost = Tried("fal", "x", NOW, paid=True, fault=Fault.AMBIGUOUS, spent=Spent.POSSIBLE)
    asked = replace(case.asked, tenant=replace(case.asked.tenant, allow_double_spend=False))
    step = decide(asked, case.fleet, (*case.history, lost), case.said)
    assert not (isinstance(step, Try) and isinstance(step.placement, External))


HOLDS = (
    is_always_the_same,
    waits_into_the_future_and_not_past_the_deadline,
    spends_only_where_it_may,
    asks_for_slots_at_its_own_rank,
    prefers_workers_that_would_take_it,
    is_over_when_it_must_be,
    says_when_to_come_back,
    pays_nobody_while_the_overflow_is_closed,
    pays_nobody_again_while_money_may_be_gone,
    can_be_replayed,
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(cases())
def test_a_decision(case: Case) -> None:
    """One test for all of them, since most of its time goes into making cases."""
    for holds in HOLDS:
        holds(case)
