"""Paying: why, whom, and what forbids it."""

from __future__ import annotations

import pytest

from providers.contract import Capabilities, Fault, Spent
from router.model.fleet import AccountView, Snapshot
from router.model.money import Price
from router.model.step import External, Try
from router.model.ticket import Tenant
from tests.policy.playbook import (
    CENT,
    LORA,
    NOW,
    Play,
    account,
    decide,
    home,
    lost_race,
    offer,
    paid,
    pool,
    rules,
    say,
    snapshot,
    ticket,
    worker,
)

BUSY = pool(worker("w1", NOW + 60))
TWO = rules(offers=(offer("fal", 3), offer("rep", 2)))
BOTH = snapshot(BUSY, accounts=(account("fal"), account("rep")))


def test_a_paid_attempt_has_its_price_and_all_the_time_that_is_left() -> None:
    step = decide(ticket(count=2), snapshot(BUSY))
    assert step == Try(External("fal", "fal/krea", 6 * CENT, 20.0), "onprem_saturated")


@pytest.mark.parametrize(
    ("fleet", "why"),
    [
        (snapshot(BUSY), "onprem_saturated"),
        (snapshot(pool(worker("w1", NOW + 60), worker("w2", closed=True, claimed=True))), "onprem_claimed"),
        (snapshot(pool(worker("w1", up=False))), "onprem_unavailable"),
        (snapshot(pool()), "onprem_unavailable"),
    ],
)
def test_the_reason_is_told(fleet: Snapshot, why: str) -> None:
    assert say(decide(ticket(), fleet)) == f"fal ({why})"


@pytest.mark.parametrize(
    ("accounts", "words"),
    [
        ((account("fal"), account("rep")), "rep (onprem_saturated)"),
        ((account("fal"), account("rep", open=False)), "fal (onprem_saturated)"),
        ((account("fal"), account("rep", in_flight=8)), "fal (onprem_saturated)"),
        ((account("fal"), account("rep", cooling_until=NOW + 0.1)), "fal (onprem_saturated)"),
        ((account("fal"), account("rep", cooling_until=NOW)), "rep (onprem_saturated)"),
        ((account("fal"), account("rep", committed=980_001)), "fal (onprem_saturated)"),
        ((account("fal"), account("rep", committed=980_000)), "rep (onprem_saturated)"),
        ((account("fal"),), "fal (onprem_saturated)"),
    ],
    ids=["cheapest", "off", "at capacity", "cooling", "cooled", "budget short", "last cent", "no account"],
)
def test_the_cheapest_that_may_and_can(accounts: tuple[AccountView, ...], words: str) -> None:
    assert say(decide(ticket(), snapshot(BUSY, accounts=accounts), said=TWO)) == words


def test_a_free_slot_that_would_be_late_is_left_to_others_if_somebody_can_be_paid() -> None:
    free, quick = snapshot(pool(worker("w1"))), rules(offers=(offer(latency_s=0.5),))
    assert say(decide(ticket(1.5), free, said=quick)) == "fal (onprem_too_slow)"
    assert say(decide(ticket(2.1), free, said=quick)) == "home w1 or queue (onprem)"


def test_nothing_is_started_that_cannot_be_in_time() -> None:
    free = snapshot(pool(worker("w1")))
    assert say(decide(ticket(1.9), free)) == "stop deadline_exceeded"
    assert say(decide(ticket(1.9, tenant=Tenant("t", external=False)), free)) == "stop deadline_exceeded"
    assert say(decide(ticket(2.1), free)) == "home w1 or queue (onprem)"


def test_more_steps_than_a_provider_takes_do_not_go_there() -> None:
    said = rules(offers=(offer("fal", 3, max_steps=10), offer("rep", 4)))
    assert say(decide(ticket(), BOTH, said=said)) == "fal (onprem_saturated)"
    assert say(decide(ticket(steps=11), BOTH, said=said)) == "rep (onprem_saturated)"


def test_equal_prices_go_by_name() -> None:
    said = rules(offers=(offer("rep"), offer("fal")))
    assert say(decide(ticket(), BOTH, said=said)) == "fal (onprem_saturated)"


def test_one_that_is_surely_in_time_goes_before_a_cheaper_one_that_may_be_late() -> None:
    said = rules(offers=(offer("fal", 3), offer("rep", 2, latency_s=15.0)))
    assert say(decide(ticket(), BOTH, said=said)) == "fal (onprem_saturated)"


def test_where_none_is_sure_the_quickest_goes() -> None:
    said = rules(offers=(offer("fal", 3, latency_s=18.0), offer("rep", 2, latency_s=19.0)))
    assert say(decide(ticket(), BOTH, said=said)) == "fal (onprem_saturated)"


def test_one_that_cannot_be_in_time_is_not_paid() -> None:
    said = rules(offers=(offer(latency_s=21.0),))
    Play(ticket(), snapshot(BUSY), said).then(lost_race(NOW)).queued(NOW - 9).expect("stop no_capacity")


def test_a_tenant_that_stays_in_the_house_never_pays() -> None:
    house = ticket(tenant=Tenant("house", external=False))
    Play(house, BOTH, TWO).then(lost_race()).expect("stop no_capacity")


def test_a_closed_overflow_takes_nobody() -> None:
    fleet = snapshot(BUSY, overflow_open=False)
    Play(ticket(), fleet).then(lost_race()).expect("stop no_capacity")


@pytest.mark.parametrize(
    ("prices", "cents"),
    [
        ((), None),
        ((Price(3 * CENT, 0, NOW + 1),), None),
        ((Price(3 * CENT, 0, NOW),), 3),
        ((Price(3 * CENT, 0, NOW - 9), Price(5 * CENT, 0, NOW - 1), Price(1 * CENT, 0, NOW + 1)), 5),
    ],
    ids=["unknown", "announced", "from now", "the latest that has begun"],
)
def test_only_a_known_price_is_paid(prices: tuple[Price, ...], cents: int | None) -> None:
    step = Play(ticket(), snapshot(BUSY), rules(offers=(offer(prices=prices),))).then(lost_race()).step()
    if cents is None:
        assert say(step) == "stop no_capacity"
    else:
        assert isinstance(step, Try)
        assert isinstance(step.placement, External)
        assert step.placement.price == cents * CENT


def test_a_parameter_a_provider_cannot_honour_makes_it_ineligible() -> None:
    strict = offer(capabilities=Capabilities(seed=False))
    said = rules(offers=(strict,))
    Play(ticket(seed=1), snapshot(BUSY), said).then(lost_race()).expect("stop no_capacity")
    assert say(decide(ticket(), snapshot(BUSY), said=said)) == "fal (onprem_saturated)"


def test_a_lora_needs_a_name_at_the_provider() -> None:
    can = Capabilities(loras=True)
    knows = offer("rep", 9, capabilities=can, loras={"ink": "u"})
    said = rules(home(), offers=(offer("fal", 3, capabilities=can), knows))
    assert say(decide(ticket(loras=(LORA,)), BOTH, said=said)) == "rep (onprem_cannot)"


@pytest.mark.parametrize(
    ("fault", "spent", "double", "words"),
    [
        (Fault.AMBIGUOUS, Spent.POSSIBLE, False, "stop upstream_error"),
        (Fault.AMBIGUOUS, Spent.POSSIBLE, True, "fal (onprem_saturated)"),
        (Fault.UNUSABLE, Spent.YES, False, "stop upstream_error"),
        (Fault.UNUSABLE, Spent.YES, True, "fal (onprem_saturated)"),
        (Fault.FAILED_KNOWN, Spent.NO, False, "fal (onprem_saturated)"),
        (Fault.BAD_CREDENTIAL, Spent.NO, False, "fal (onprem_saturated)"),
        (Fault.REFUSED, Spent.NO, False, "fal (onprem_saturated)"),
        (Fault.NOT_SENT, Spent.NO, False, "fal (onprem_saturated)"),
    ],
)
def test_money_that_may_be_spent_is_not_spent_again(
    fault: Fault, spent: Spent, double: bool, words: str
) -> None:
    asked = ticket(tenant=Tenant("acme", allow_double_spend=double))
    play = Play(asked, BOTH, TWO).then(lost_race(NOW + 100)).then(paid(fault, spent, "rep"))
    play.expect(words)


def test_after_a_paid_attempt_of_unknown_fate_it_may_still_run_on_prem() -> None:
    play = Play(ticket(), snapshot(BUSY)).then(paid(Fault.AMBIGUOUS, Spent.POSSIBLE))
    play.sees(snapshot(pool(worker("w1")))).expect("home w1 or queue (onprem)")


def test_a_provider_that_failed_it_is_not_asked_again() -> None:
    play = Play(ticket(), snapshot(BUSY)).then(lost_race(NOW + 100)).then(paid(Fault.FAILED_KNOWN))
    play.expect("stop upstream_error")


@pytest.mark.parametrize(("retry_after_s", "again_at"), [(None, NOW + 1), (3.0, NOW + 3), (0.0, NOW)])
def test_a_provider_that_was_busy_is_asked_again_when_it_said(
    retry_after_s: float | None, again_at: float
) -> None:
    play = Play(ticket(), snapshot(BUSY)).queued().left()
    play.then(paid(Fault.REFUSED, retry_after_s=retry_after_s))
    if again_at > NOW:
        play.at(again_at - 0.01).expect("home or queue (onprem)")
    play.at(again_at).expect("fal (onprem_saturated)")
