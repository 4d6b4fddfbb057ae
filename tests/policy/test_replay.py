"""A decision written down as JSON, read again and decided again is the same decision."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from typing import Any

from providers.contract import Fault
from router.model.fleet import Snapshot
from router.model.rules import Rules
from router.model.step import Denied, Fact, History, Left, Queued, Tried
from router.model.ticket import Ticket
from router.policy.history import recall
from tests.policy.playbook import (
    LORA,
    NOW,
    crowd,
    decide,
    failed,
    home,
    lost_race,
    pool,
    rules,
    snapshot,
    ticket,
    worker,
)
from tests.policy.worlds import Case

FACTS = {kind.__name__: kind for kind in (Queued, Left, Denied, Tried)}


def written(asked: Ticket, history: History, fleet: Snapshot, said: Rules) -> str:
    """One line. The prompt is left out: no decision reads it."""
    ticket = asdict(asked)
    ticket["generation"]["prompt"] = ""
    facts = [{"is": type(fact).__name__, **asdict(fact)} for fact in history]
    record = {"ticket": ticket, "history": facts, "snapshot": asdict(fleet), "rules": asdict(said)}
    return json.dumps(record, default=sorted)


def read(line: str) -> tuple[Ticket, History, Snapshot, Rules]:
    record = json.loads(line)
    return (
        revived(Ticket, record["ticket"]),
        tuple(_fact(fact) for fact in record["history"]),
        revived(Snapshot, record["snapshot"]),
        revived(Rules, record["rules"]),
    )


def _fact(record: dict[str, Any]) -> Fact:
    fact: Fact = revived(FACTS[record.pop("is")], record)
    return fact


def revived(kind: Any, value: Any) -> Any:
    """A value of `kind` from its JSON."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else revived(next(one for one in inner if one is not type(None)), value)
    if origin in (tuple, frozenset):
        return origin(revived(inner[0], one) for one in value)
    if origin is Mapping:
        return {key: revived(inner[1], one) for key, one in value.items()}
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{one.name: revived(hints[one.name], value[one.name]) for one in fields(kind)})
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


def can_be_replayed(case: Case) -> None:
    """A property of every decision; see `test_properties.py`."""
    line = written(case.asked, case.history, case.fleet, case.said)
    asked, history, fleet, said = read(line)
    assert (asked, history, fleet, said) == (case.asked, case.history, case.fleet, case.said)
    assert decide(asked, fleet, history, said) == case.step
    assert written(asked, history, fleet, said) == line


def test_a_decision_on_a_whole_record() -> None:
    said = rules(home(pinned=frozenset({"ink"})))
    fleet = snapshot(pool(worker("w1", NOW + 5), worker("w2", closes_at=NOW + 9), **crowd(NOW + 1)))
    history = (failed(Fault.REFUSED), lost_race(), Queued("home", NOW))
    asked = ticket(loras=(LORA,), seed=7)
    can_be_replayed(Case(asked, history, fleet, said, decide(asked, fleet, history, said), recall(history)))


def test_no_prompt_is_written() -> None:
    asked = ticket(prompt="a canary", count=2)
    assert "canary" not in written(asked, (), snapshot(), rules())
