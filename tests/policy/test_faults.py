"""What is done after an attempt, by its fault, and where it ends."""

from __future__ import annotations

import pytest

from providers.contract import Fault, Spent
from router.model.step import External, OnPrem, Stop, Tried, Try
from tests.policy.playbook import (
    CENT,
    NOW,
    Play,
    decide,
    failed,
    paid,
    pool,
    rules,
    say,
    snapshot,
    ticket,
    worker,
)

FOUR = snapshot(pool(*(worker(f"w{n}") for n in range(1, 5))))
ALONE = snapshot(pool(*(worker(f"w{n}") for n in range(1, 5))), accounts=())


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.DETERMINISTIC])
def test_one_failure_moves_it_to_another_worker(fault: Fault) -> None:
    step = decide(ticket(), FOUR, (failed(fault),))
    assert isinstance(step, Try)
    assert isinstance(step.placement, OnPrem)
    assert "w1" not in step.placement.preferred
    assert step.placement.avoid == ("w1",)


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        ("content_policy", Tried("home", "onprem", NOW, fault=Fault.DETERMINISTIC, code="content_policy")),
        (
            "invalid_request",
            Tried("fal", "x", NOW, paid=True, fault=Fault.DETERMINISTIC, code="invalid_request"),
        ),
    ],
)
def test_what_is_the_same_everywhere_is_not_tried_again(code: str, fact: Tried) -> None:
    assert decide(ticket(), FOUR, (fact,)) == Stop(code)


@pytest.mark.parametrize("fault", [Fault.FAILED_KNOWN, Fault.UNUSABLE])
def test_two_failures_on_prem_are_a_reason_to_pay(fault: Fault) -> None:
    history = (failed(fault, "w1"), failed(fault, "w2"))
    assert say(decide(ticket(), FOUR, history)) == "fal (onprem_failed)"
    assert say(decide(ticket(), ALONE, history)) == "stop upstream_error"


def test_a_request_that_killed_two_workers_is_not_given_to_a_third() -> None:
    assert say(decide(ticket(), FOUR, (failed(Fault.AMBIGUOUS), failed(Fault.AMBIGUOUS, "w2")))) == (
        "stop upstream_error"
    )
    mixed = (failed(Fault.AMBIGUOUS), failed(Fault.FAILED_KNOWN, "w2"))
    assert say(decide(ticket(), FOUR, mixed)) == "fal (onprem_failed)"


@pytest.mark.parametrize("fault", [Fault.NOT_SENT, Fault.REFUSED, Fault.BAD_CREDENTIAL])
def test_workers_that_never_ran_it_do_not_use_up_the_last_try(fault: Fault) -> None:
    """Regression: five workers of a dead node used up all tries while a provider stood ready."""
    history = tuple(failed(fault, f"w{n}") for n in (1, 2, 3))
    assert say(decide(ticket(), FOUR, history)) == "home w4 or queue (onprem)"
    assert say(decide(ticket(), FOUR, (*history, failed(fault, "w1")))) == "fal (onprem_failed)"
    assert say(decide(ticket(), ALONE, (*history, failed(fault, "w1")))) == "home w4 or queue (onprem)"
    assert say(decide(ticket(), ALONE, (*history, *history))) == "stop upstream_error"


def test_with_one_try_in_all_it_is_made_on_prem() -> None:
    assert say(decide(ticket(), FOUR, said=rules(max_tries=1))).startswith("home")


def test_a_lost_lease_costs_no_try() -> None:
    lost = tuple(failed(Fault.LOST_LEASE, "w1") for _ in range(20))
    assert say(decide(ticket(), FOUR, lost)).startswith("home")


def test_tries_are_bounded_over_all_places() -> None:
    history = tuple(paid(Fault.REFUSED, retry_after_s=0.0) for _ in range(5))
    assert say(decide(ticket(), FOUR, history)) == "stop upstream_error"


@pytest.mark.parametrize(
    ("history", "words"),
    [
        ((), "stop deadline_exceeded"),
        ((failed(Fault.REFUSED),), "stop deadline_exceeded"),
        ((Tried("home", "onprem", NOW, made=1),), "stop done"),
    ],
)
def test_at_the_deadline_it_is_over(history: tuple[Tried, ...], words: str) -> None:
    assert say(decide(ticket(left_s=0.0), FOUR, history)) == words


def test_a_model_that_is_off_is_refused_with_a_time_to_come_back() -> None:
    fleet = snapshot(pool(worker("w1")), models_off=frozenset({"krea"}))
    assert decide(ticket(), fleet) == Stop("model_off", 30.0)
    assert say(decide(ticket(), fleet, (Tried("home", "onprem", NOW, made=1),))) == "stop done"


def test_only_the_missing_images_are_asked_for_and_paid_for() -> None:
    made = Tried("home", "onprem", NOW, worker="w1", made=3)
    step = decide(ticket(count=4), FOUR, (made,))
    assert isinstance(step, Try)
    assert isinstance(step.placement, OnPrem)
    assert step.placement.need_s == pytest.approx(2.4)
    full = snapshot(pool(worker("w1", NOW + 60)))
    step = decide(ticket(count=4), full, (made,))
    assert isinstance(step, Try)
    assert isinstance(step.placement, External)
    assert step.placement.price == 3 * CENT


def test_images_from_several_attempts_add_up() -> None:
    some = Tried("fal", "x", NOW, paid=True, made=2, spent=Spent.YES)
    play = Play(ticket(count=4), snapshot(pool(worker("w1", NOW + 60)))).then(some)
    play.expect("fal (onprem_saturated)").then(some).expect("stop done")


def test_work_may_hold_its_slot_for_three_times_its_worst_whatever_the_deadline() -> None:
    def budget(left_s: float, steps: int) -> float:
        step = decide(ticket(left_s=left_s, steps=steps), snapshot(pool(worker("w1"))))
        assert isinstance(step, Try)
        assert isinstance(step.placement, OnPrem)
        return step.placement.budget_s

    assert budget(100, 10) == 10.0
    assert budget(100, 100) == pytest.approx(3 * 11 * 1.2)
    assert budget(5, 10) == 10.0
