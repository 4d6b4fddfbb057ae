"""Training's hold on a gang of nodes, and an operator's switches. Times are seconds of store time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """`requested -> draining -> held -> releasing -> released`, or `cancelled` before it was held."""

    REQUESTED = "requested"
    DRAINING = "draining"
    HELD = "held"
    RELEASING = "releasing"
    RELEASED = "released"
    CANCELLED = "cancelled"


ENDED = frozenset({Phase.RELEASED, Phase.CANCELLED})


@dataclass(frozen=True, slots=True)
class Claim:
    """All of `nodes` or none of them.

    Nothing starts there after `drain_at`; what still runs at `cut_at` is cut and placed elsewhere. Past
    `expires_at` it is overdue: an alarm, never a release. `revision` is for compare-and-set. `pools`: all
    pools there were when it was opened, since a later config may have others.
    """

    revision: int
    id: str
    nodes: tuple[str, ...]
    owner: str
    reason: str
    actor: str
    phase: Phase
    requested_at: float
    drain_at: float
    cut_at: float
    expires_at: float
    notice_s: float
    grace_s: float
    ttl_s: float
    held_at: float | None = None
    released_at: float | None = None
    overdue: bool = False
    alarm: str = ""
    pools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What still holds slots on a claim's nodes, over all pools. `unblocked`: where it is not closed yet."""

    leased: int
    offered: int
    ghosts: int
    unblocked: int = 0

    @property
    def clear(self) -> bool:
        """Nothing holds a slot there, and nothing can come."""
        return not (self.leased or self.offered or self.ghosts or self.unblocked)


FLAG_KINDS = ("node", "pool", "provider", "model", "overflow")


@dataclass(frozen=True, slots=True)
class Flag:
    """An operator's switch: while it stands, the thing takes no new work. No `expires_at`: until removed."""

    revision: int
    kind: str
    name: str
    reason: str
    actor: str
    set_at: float
    expires_at: float | None

    @property
    def id(self) -> str:
        """Its key in the store."""
        return f"{self.kind}/{self.name}"
