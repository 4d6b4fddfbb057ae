"""The nouns are values: frozen, without room for more, and their small predicates."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from router.model import claim, fleet, money, rules, step, ticket
from router.model.claim import ENDED, FLAG_KINDS, Flag, Occupancy, Phase
from router.model.fleet import WorkerView

NOUNS = [
    thing
    for module in (claim, fleet, money, rules, step, ticket)
    for _, thing in inspect.getmembers(module, inspect.isclass)
    if thing.__module__ == module.__name__ and dataclasses.is_dataclass(thing)
]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.__name__)
def test_a_noun_is_a_frozen_value_that_says_what_it_is(noun: type) -> None:
    assert noun.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(noun)
    assert noun.__doc__
    assert not noun.__doc__.startswith(f"{noun.__name__}(")


@pytest.mark.parametrize(
    ("occupancy", "clear"),
    [
        (Occupancy(0, 0, 0), True),
        (Occupancy(1, 0, 0), False),
        (Occupancy(0, 1, 0), False),
        (Occupancy(0, 0, 1), False),
    ],
)
def test_clear_means_nothing_holds_a_slot(occupancy: Occupancy, clear: bool) -> None:
    assert occupancy.clear is clear


def test_a_flag_is_known_by_its_kind_and_name() -> None:
    assert Flag(1, "node", "n1", "", "ops", 0.0, None).id == "node/n1"
    assert "overflow" in FLAG_KINDS


def test_the_phases_that_end_a_claim() -> None:
    assert {Phase.RELEASED, Phase.CANCELLED} == ENDED


@pytest.mark.parametrize(
    ("up", "closed", "ends", "takes_work", "free"),
    [
        (True, False, (), True, 2),
        (True, False, (5.0,), True, 1),
        (True, False, (5.0, 6.0, 7.0), True, 0),
        (False, False, (), False, 2),
        (True, True, (), False, 2),
    ],
)
def test_a_worker_s_room(
    up: bool, closed: bool, ends: tuple[float, ...], takes_work: bool, free: int
) -> None:
    seen = WorkerView("w", "n", "", 2, frozenset({"krea"}), up=up, closed=closed, ends=ends)
    assert (seen.takes_work, seen.free) == (takes_work, free)
