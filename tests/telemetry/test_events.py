"""Events can hold ids, words, numbers and truth values, and nothing else."""

from __future__ import annotations

import dataclasses
import types
import typing

import pytest

from providers.contract import Generation
from router.model.fleet import Snapshot
from router.model.rules import Rules
from router.model.step import External, OnPrem, Step, Stop, Try, Wait
from router.model.ticket import Tenant, Ticket
from router.telemetry import events
from router.telemetry.events import Decided, Event
from tests.telemetry.scenes import EVENTS

KINDS = typing.get_args(Event)
FORBIDDEN = ("prompt", "image_", "url", "key", "secret", "body", "text", "header")
TICKET = Ticket(
    "job-1",
    Generation("krea", "a prompt", 512, 512, 8),
    Tenant("acme"),
    "interactive",
    arrived=1.0,
    deadline=9.0,
)


def leaves(kind: object) -> set[object]:
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return set().union(*(leaves(part) for part in typing.get_args(kind)))
    if typing.get_origin(kind) is typing.Literal:
        return {type(word) for word in typing.get_args(kind)}
    return {kind}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fields_are_ids_words_and_numbers(kind: type[Event]) -> None:
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        assert leaves(hints[field.name]) <= {str, int, float, bool, type(None)}, field.name
        assert not any(word in field.name for word in FORBIDDEN), field.name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_events_are_frozen_and_have_no_room_for_more(kind: type[Event]) -> None:
    event = next(event for event in EVENTS if type(event) is kind)
    name = dataclasses.fields(kind)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(event, name, "x")
    assert not hasattr(event, "__dict__")


def test_the_union_names_every_record_of_the_file() -> None:
    records = {thing for thing in vars(events).values() if dataclasses.is_dataclass(thing)}
    ours = {thing for thing in records if isinstance(thing, type) and thing.__module__ == events.__name__}
    assert ours == set(KINDS) == {type(event) for event in EVENTS}


@pytest.mark.parametrize(
    ("step", "outline"),
    [
        (Try(OnPrem("home", "krea", 5.0, 1.0, 3.0), "onprem"), ("try", "onprem", "home", "onprem")),
        (Try(External("fal", "t", 3, 1.0), "onprem_failed"), ("try", "onprem_failed", "fal", "external")),
        (Wait(5.0, "queued"), ("wait", "queued", "", "")),
        (Stop("done"), ("stop", "done", "", "")),
    ],
)
def test_a_decision_is_told_in_outline(step: Step, outline: tuple[str, str, str, str]) -> None:
    told = Decided.of(TICKET, step, (), Snapshot(taken_at=1.5), Rules("v7"), now=2.0)
    assert (told.kind, told.reason, told.pool, told.place) == outline
    assert (told.job, told.facts, told.rules, told.age_s) == ("job-1", 0, "v7", 0.5)


def test_a_snapshot_from_a_faster_clock_has_no_age() -> None:
    assert Decided.of(TICKET, Stop("done"), (), Snapshot(taken_at=3.0), Rules("v7"), now=2.0).age_s == 0.0
