"""Waiting in the queue while it is safe, and what a lost race means."""

from __future__ import annotations

import pytest

from providers.contract import Fault
from router.model.step import OnPrem, Stop, Try, Wait
from router.model.ticket import Tenant
from tests.policy.playbook import (
    NOW,
    RANK,
    Play,
    account,
    crowd,
    decide,
    failed,
    lost_race,
    offer,
    pool,
    rules,
    say,
    snapshot,
    ticket,
    worker,
)

HOUSE = Tenant("house", external=False)
FULL = snapshot(pool(worker("w1", NOW + 5)))
NOBODY = snapshot(pool(worker("w1", NOW + 5)), accounts=())


def test_a_slot_that_comes_in_time_is_waited_for() -> None:
    assert say(decide(ticket(), FULL)) == "home or queue (onprem)"
    Play(ticket(), FULL).queued().expect("wait queued").at(NOW + 4).expect("wait queued")


def test_a_batch_ticket_waits_where_an_interactive_one_pays() -> None:
    fleet = snapshot(pool(worker("w1", NOW + 60)))
    assert say(decide(ticket(left_s=20), fleet)) == "fal (onprem_saturated)"
    assert say(decide(ticket(left_s=3600), fleet)) == "home or queue (onprem)"


@pytest.mark.parametrize(("ahead", "words"), [(6, "home or queue (onprem)"), (7, "fal (onprem_saturated)")])
def test_better_ranked_waiters_are_counted(ahead: int, words: str) -> None:
    ranks = [NOW + 10 + n / 10 for n in range(ahead)]
    fleet = snapshot(pool(worker("w1", NOW + 5), **crowd(*ranks)))
    assert say(decide(ticket(), fleet)) == words


def test_worse_ranked_waiters_are_not() -> None:
    fleet = snapshot(pool(worker("w1", NOW + 5), **crowd(*[RANK + 1] * 50)))
    assert say(decide(ticket(), fleet)) == "home or queue (onprem)"


def test_a_ticket_does_not_wait_for_itself() -> None:
    """Regression: its own place, kept in whole milliseconds, counted as ahead of it."""
    busy = worker("w1", NOW + 16)
    itself = crowd(int((RANK + 0.0004) * 1000) / 1000)
    asked = ticket(left_s=20.0004)
    Play(asked, snapshot(pool(busy, **itself))).queued().expect("wait queued")


def test_a_waiting_ticket_looks_again_within_a_second_and_before_the_cheapest_is_unsafe() -> None:
    def until(left_s: float) -> float:
        step = Play(ticket(left_s=left_s), snapshot(pool(worker("w1", NOW + 0.5)))).queued().step()
        assert isinstance(step, Wait)
        return step.until

    assert until(20) == NOW + 1
    assert until(6.6) == pytest.approx(NOW + 0.3)
    assert until(3.4) == pytest.approx(NOW + 0.7)


def test_a_provider_that_is_too_slow_by_now_wakes_nobody() -> None:
    """Regression: past the safe moment of a provider, a ticket was looked at twenty times a second."""
    step = Play(ticket(left_s=5.0), snapshot(pool(worker("w1", NOW + 0.5)))).queued().step()
    assert isinstance(step, Wait)
    assert step.until == NOW + 1


def test_an_offer_that_may_not_come_is_given_up_for_a_provider() -> None:
    Play(ticket(), FULL).queued().at(NOW + 1).sees(snapshot(pool(worker("w1", NOW + 50)))).expect(
        "fal (onprem_saturated)"
    )


def test_after_a_refused_hold_it_goes_back_to_the_queue_at_its_first_rank() -> None:
    full = snapshot(pool(worker("w1", NOW + 50)), accounts=(account(in_flight=8),))
    play = Play(ticket(), snapshot(pool(worker("w1", NOW + 50)))).queued().expect("fal (onprem_saturated)")
    step = play.left().then(lost_race(name="fal")).sees(full).step()
    assert isinstance(step, Try)
    assert isinstance(step.placement, OnPrem)
    assert (step.placement.queue, step.placement.rank) == (True, pytest.approx(RANK))
    play.queued().expect("wait no_capacity_yet")


def test_a_pool_that_denied_it_is_not_asked_before_the_time_it_said() -> None:
    """Regression: the home pool was asked again at once, and again, for as long as it denied."""
    play = Play(ticket(), FULL).then(lost_race(NOW + 0.25)).expect("wait no_capacity_yet")
    step = play.step()
    assert isinstance(step, Wait)
    assert step.until == NOW + 0.25
    play.at(NOW + 0.25).expect("home or queue (onprem)")


def test_a_free_slot_of_a_pool_that_denied_it_is_not_asked_for() -> None:
    Play(ticket(), snapshot(pool(worker("w1")))).then(lost_race()).expect("wait no_capacity_yet")


def test_a_denial_that_outlasts_the_ticket_is_a_reason_to_pay() -> None:
    Play(ticket(), FULL).then(lost_race(NOW + 100)).expect("fal (onprem_saturated)")


def test_nobody_to_pay_yet_keeps_the_place_while_somebody_may_come() -> None:
    full = snapshot(pool(worker("w1", NOW + 50)), accounts=(account(in_flight=8),))
    play = Play(ticket(), full).expect("home or queue (onprem)").queued().expect("wait no_capacity_yet")
    play.at(NOW + 15.9).expect("wait no_capacity_yet").at(NOW + 16.1).expect("stop no_capacity")


def test_a_slot_that_may_just_do_is_waited_for_by_who_cannot_pay() -> None:
    fleet = snapshot(pool(worker("w1", NOW + 17.5)))
    assert say(decide(ticket(tenant=HOUSE), fleet)) == "home or queue (onprem)"
    assert say(decide(ticket(), fleet)) == "fal (onprem_saturated)"


def test_the_hopeless_stand_for_a_second_since_the_picture_may_be_old() -> None:
    hopeless = snapshot(pool(worker("w1", NOW + 500)))
    play = Play(ticket(tenant=HOUSE), hopeless).expect("home or queue (onprem)").queued()
    play.expect("wait no_capacity_yet").at(NOW + 0.9).expect("wait no_capacity_yet")
    play.at(NOW + 1).expect("stop no_capacity")


def test_the_hopeless_who_were_denied_are_refused_at_once() -> None:
    hopeless = snapshot(pool(worker("w1", NOW + 500)))
    Play(ticket(tenant=HOUSE), hopeless).then(lost_race()).expect("stop no_capacity")
    Play(ticket(tenant=HOUSE), hopeless).queued(NOW - 5).left().expect("stop no_capacity")


@pytest.mark.parametrize(
    ("busy_until", "retry_after"), [(NOW + 0.2, 1.0), (NOW + 60, 60.0), (NOW + 999, 120.0)]
)
def test_a_refusal_says_when_to_come_back(busy_until: float, retry_after: float) -> None:
    fleet = snapshot(pool(worker("w1", busy_until)))
    step = Play(ticket(left_s=2.1, tenant=HOUSE), fleet).then(lost_race()).step()
    assert step == Stop("no_capacity", pytest.approx(retry_after))


def test_a_refusal_without_any_slot_in_sight_says_fifteen_seconds() -> None:
    step = Play(ticket(left_s=2.1, tenant=HOUSE), snapshot(pool())).then(lost_race()).step()
    assert step == Stop("no_capacity", 15.0)


def test_a_provider_that_cools_off_in_time_is_waited_for_without_a_queue() -> None:
    cooling = snapshot(pool(), accounts=(account(cooling_until=NOW + 5),))
    gone = failed(Fault.FAILED_KNOWN)
    play = Play(ticket(), cooling).then(gone).then(gone).expect("wait no_capacity_yet")
    play.at(NOW + 5).expect("fal (onprem_failed)")


@pytest.mark.parametrize(
    ("cooling_until", "left_s", "words"),
    [
        (NOW + 15.9, 20, "wait no_capacity_yet"),
        (NOW + 16.1, 20, "stop upstream_error"),
        (0, 3.9, "stop upstream_error"),
    ],
    ids=["in time", "cools too long", "too slow"],
)
def test_a_provider_that_cannot_be_in_time_any_more_is_not_waited_for(
    cooling_until: float, left_s: float, words: str
) -> None:
    """Regression: such a ticket was kept until its deadline and refused then."""
    fleet = snapshot(pool(), accounts=(account(cooling_until=cooling_until, in_flight=8),))
    gone = failed(Fault.FAILED_KNOWN)
    Play(ticket(left_s=left_s), fleet).then(gone).then(gone).expect(words)


def test_a_retry_is_not_held_past_the_deadline() -> None:
    full = snapshot(pool(), accounts=(account(in_flight=8),))
    gone = failed(Fault.FAILED_KNOWN)
    said = rules(offers=(offer(latency_s=0.1),))
    play = Play(ticket(left_s=1.0), full, said).then(gone).then(gone).expect("wait no_capacity_yet")
    play.at(NOW + 0.5).expect("stop upstream_error")


def test_work_that_grows_with_its_images_is_ranked_earlier() -> None:
    def rank(count: int) -> float:
        step = decide(ticket(count=count), snapshot(pool(worker("w1"))))
        assert isinstance(step, Try)
        assert isinstance(step.placement, OnPrem)
        return step.placement.rank

    assert rank(1) - rank(4) == pytest.approx(3 * 1.2)
