"""What can be told about the router: a closed union of frozen records.

Fields are ids and words of the deployment, numbers and truth values. There is no field for a prompt, an
image, a key or a URL, so none can get into a metric, a span or a log line by way of an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

from router.model.fleet import Snapshot
from router.model.rules import Rules
from router.model.step import External, History, OnPrem, Step, Stop, Try, Wait
from router.model.ticket import Ticket

Kind = Literal["try", "wait", "stop"]
Place = Literal["onprem", "external"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request became a ticket."""

    job: str
    request_id: str
    tenant: str
    model: str
    request_class: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A request was answered before it became a ticket. `tenant` and `model` are empty where unknown."""

    code: str
    status: int
    tenant: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """The policy's step for a ticket. `facts` counts its history, `age_s` is the age of the snapshot."""

    job: str
    kind: Kind
    reason: str
    pool: str
    place: Place | Literal[""]
    facts: int
    rules: str
    age_s: float

    @classmethod
    def of(
        cls, ticket: Ticket, step: Step, history: History, snapshot: Snapshot, rules: Rules, now: float
    ) -> Self:
        """The record of one call of `next_step`."""
        kind, pool, place = _outline(step)
        age_s = max(0.0, now - snapshot.taken_at)
        return cls(ticket.id, kind, step.reason, pool, place, len(history), rules.version, age_s)


@dataclass(frozen=True, slots=True)
class Queued:
    """A ticket stands in a queue, with about `ahead` better-ranked waiters of its lane."""

    pool: str
    lane: str
    ahead: int


@dataclass(frozen=True, slots=True)
class Leased:
    """A slot was got. `waited_s`: since the ticket last held one, or arrived. `offered`: from the queue."""

    pool: str
    worker: str
    node: str
    waited_s: float
    offered: bool


@dataclass(frozen=True, slots=True)
class Denied:
    """A slot or a hold was refused: a lost race, or a limit."""

    pool: str
    why: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """One call to one back end is over. `worker` is empty if it was external. `cut`: its node was claimed."""

    job: str
    pool: str
    place: Place
    worker: str
    dialect: str
    model: str
    fault: str | None
    code: str
    seconds: float
    images: int
    reason: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Spilled:
    """A ticket goes to an external pool, and why."""

    pool: str
    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Held:
    """Money was set aside for one attempt."""

    account: str
    micro_usd: int


@dataclass(frozen=True, slots=True)
class Settled:
    """It is known, or must be assumed, what an attempt cost."""

    account: str
    micro_usd: int
    held_micro_usd: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A ticket has its answer. `route` is empty if nothing was attempted; `code` is `done` or a refusal's."""

    job: str
    tenant: str
    model: str
    route: Place | Literal[""]
    status: int
    seconds: float
    queued_s: float
    attempts: int
    images: int
    request_class: str = ""
    code: str = "done"


@dataclass(frozen=True, slots=True)
class ClaimMoved:
    """A claim entered `phase`, `seconds` after it entered the one before."""

    claim: str
    owner: str
    phase: str
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FlagMoved:
    """An operator's switch was set or taken away."""

    kind: str
    name: str
    on: bool


@dataclass(frozen=True, slots=True)
class WorkerMoved:
    """The probes ejected a worker, or took it back."""

    pool: str
    worker: str
    up: bool


@dataclass(frozen=True, slots=True)
class GhostsEnded:
    """Abandoned work on a worker is known to be over: its slots are free again."""

    pool: str
    worker: str
    count: int


@dataclass(frozen=True, slots=True)
class LeadershipMoved:
    """This replica began or ceased to run the control loops."""

    leads: bool


@dataclass(frozen=True, slots=True)
class StoreLost:
    """A call to the store failed; `what` names the call."""

    what: str


@dataclass(frozen=True, slots=True)
class LoopLagged:
    """The event loop was late by this much: something computed on it, or the machine was busy."""

    seconds: float


Event = (
    Admitted
    | Refused
    | Decided
    | Queued
    | Leased
    | Denied
    | AttemptEnded
    | Spilled
    | Held
    | Settled
    | Answered
    | ClaimMoved
    | FlagMoved
    | WorkerMoved
    | GhostsEnded
    | LeadershipMoved
    | StoreLost
    | LoopLagged
)

Record = Callable[[Event], None]
"""Takes note of an event. Never raises, never blocks, and takes a few microseconds."""


def _outline(step: Step) -> tuple[Kind, str, Place | Literal[""]]:
    match step:
        case Try(placement=OnPrem(pool=pool)):
            return "try", pool, "onprem"
        case Try(placement=External(pool=pool)):
            return "try", pool, "external"
        case Try():
            return "try", "", ""
        case Wait():
            return "wait", "", ""
        case Stop():
            return "stop", "", ""
