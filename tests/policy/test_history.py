"""What a history amounts to, and what is forgotten of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.contract import Fault, Spent
from router.model.step import Denied, Fact, History, Left, Queued, Tried
from router.policy.history import extend, recall
from tests.policy.playbook import NOW, failed, paid, ticket
from tests.policy.worlds import facts


def after(*some: Fact) -> History:
    history: History = ()
    for fact in some:
        history = extend(history, fact)
    return history


QUEUED, LEFT = Queued("home", NOW), Left("home", NOW + 1)


@pytest.mark.parametrize(
    ("history", "standing"),
    [
        ((), None),
        ((QUEUED,), "home"),
        ((QUEUED, LEFT), None),
        ((QUEUED, LEFT, QUEUED), "home"),
        ((QUEUED, failed(Fault.REFUSED)), None),
        ((failed(Fault.REFUSED), QUEUED), "home"),
        ((QUEUED, Denied("fal", "why", NOW, NOW)), "home"),
        ((Denied("fal", "why", NOW, NOW),), None),
    ],
)
def test_where_it_stands(history: History, standing: str | None) -> None:
    assert recall(after(*history)).standing == standing


def test_since_when_it_stands() -> None:
    assert recall(()).queued_at is None
    assert recall(after(QUEUED, LEFT)).queued_at == NOW
    assert recall(after(QUEUED, LEFT, Queued("home", NOW + 7))).queued_at == NOW + 7


def test_newer_facts_replace_idle_ones() -> None:
    first, second = Denied("fal", "a", NOW, NOW + 1), Denied("fal", "b", NOW, NOW + 2)
    other = Denied("rep", "a", NOW, NOW + 1)
    assert after(first, other, second) == (other, second)
    assert after(QUEUED, LEFT, QUEUED) == (QUEUED,)
    assert after(QUEUED, failed(Fault.REFUSED)) == (QUEUED, failed(Fault.REFUSED))


@given(st.lists(facts, max_size=60))
def test_waiting_long_costs_nothing(story: list[Fact]) -> None:
    history = after(*story)
    tried = sum(isinstance(fact, Tried) for fact in story)
    left = sum(isinstance(fact, Left) for fact in story)
    assert len(history) <= tried + left + 1 + 5


COUNTED = (
    "made",
    "tries",
    "standing",
    "shunned",
    "onprem_failures",
    "onprem_misses",
    "deaths",
    "paid_closed",
)


@given(st.lists(facts, max_size=20))
def test_forgetting_changes_nothing_that_counts(story: list[Fact]) -> None:
    kept, whole = recall(after(*story)), recall(tuple(story))
    for name in COUNTED:
        assert getattr(kept, name) == getattr(whole, name)


@pytest.mark.parametrize(
    ("fact", "bar"),
    [
        (paid(Fault.REFUSED), NOW + 1),
        (paid(Fault.REFUSED, retry_after_s=7.0), NOW + 7),
        (paid(Fault.NOT_SENT), NOW + 1),
        (paid(Fault.FAILED_KNOWN), float("inf")),
        (paid(Fault.BAD_CREDENTIAL), float("inf")),
        (paid(Fault.AMBIGUOUS), float("inf")),
        (paid(), 0.0),
        (failed(Fault.FAILED_KNOWN), 0.0),
        (Denied("fal", "cooling", NOW, NOW + 3), NOW + 3),
    ],
)
def test_until_when_a_pool_is_left_alone(fact: Fact, bar: float) -> None:
    assert recall((fact,)).barred.get(fact.pool, 0.0) == bar
    later = Denied(fact.pool, "x", NOW, NOW + 0.5)
    assert recall((fact, later)).barred[fact.pool] == max(bar, NOW + 0.5)


def test_a_newer_denial_does_not_shorten_what_an_attempt_said() -> None:
    busy = paid(Fault.REFUSED, retry_after_s=30.0)
    assert recall(after(busy, Denied("fal", "x", NOW, NOW + 0.25))).barred["fal"] == NOW + 30


@pytest.mark.parametrize(
    ("fact", "closed"),
    [
        (paid(Fault.AMBIGUOUS, Spent.POSSIBLE), True),
        (paid(Fault.UNUSABLE, Spent.YES), True),
        (paid(Fault.REFUSED, Spent.NO), False),
        (paid(None, Spent.YES, made=1), False),
        (failed(Fault.AMBIGUOUS), False),
    ],
)
def test_whether_money_may_be_gone(fact: Tried, closed: bool) -> None:
    assert recall((fact,)).paid_closed is closed


def test_counts() -> None:
    past = recall(
        (
            failed(Fault.AMBIGUOUS, "w1"),
            failed(Fault.LOST_LEASE, "w2"),
            failed(Fault.NOT_SENT, "w3"),
            failed(Fault.REFUSED, "w1"),
            paid(Fault.FAILED_KNOWN),
            Tried("home", "onprem", NOW, worker="w4", made=2),
        )
    )
    assert (past.made, past.tries, past.deaths) == (2, 5, 1)
    assert (past.onprem_failures, past.onprem_misses) == (1, 3)
    assert past.shunned == ("w1", "w2", "w3")
    assert past.missing(ticket(count=3)) == 1
    assert past.last_failure() is None


def test_the_last_failure_is_the_latest_fact_or_none() -> None:
    assert recall(()).last_failure() is None
    assert recall((failed(Fault.REFUSED),)).last_failure() == failed(Fault.REFUSED)
    assert recall((failed(Fault.REFUSED), QUEUED)).last_failure() is None
