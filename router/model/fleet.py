"""What the policy knows of the world: one immutable snapshot. Times are seconds of store time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One on-prem worker. `ends` are the predicted ends of the leases, offers and ghosts it holds.

    `up`: probes succeed. `closed`: its node is flagged, or claimed with the notice over.
    `closes_at`: when a claim's notice ends (`None`: no claim). Work that would end later is not started.
    """

    id: str
    node: str
    url: str
    slots: int
    lanes: frozenset[str]
    up: bool = True
    closed: bool = False
    claimed: bool = False
    closes_at: float | None = None
    ends: tuple[float, ...] = ()

    @property
    def takes_work(self) -> bool:
        """Would a free slot here be given out?"""
        return self.up and not self.closed

    @property
    def free(self) -> int:
        """Slots that hold nothing, offers and ghosts counted as something."""
        return max(0, self.slots - len(self.ends))


@dataclass(frozen=True, slots=True)
class Waiter:
    """One place in the queue of a pool: `rank` is its latest start, `need_s` its predicted time in a slot."""

    rank: float
    lane: str
    need_s: float


@dataclass(frozen=True, slots=True)
class PoolView:
    """One on-prem pool. `queue` holds the best-ranked waiters; `waiting` counts them all."""

    name: str
    open: bool = True
    workers: tuple[WorkerView, ...] = ()
    queue: tuple[Waiter, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class AccountView:
    """One provider account. Money is micro-USD of the current UTC day."""

    name: str
    open: bool = True
    in_flight: int = 0
    concurrency: int = 1
    committed: int = 0
    budget: int = 0
    cooling_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fleet at one moment. `revision` rises whenever a flag, claim or worker changes."""

    taken_at: float
    revision: int = 0
    pools: Mapping[str, PoolView] = field(default_factory=dict)
    accounts: Mapping[str, AccountView] = field(default_factory=dict)
    models_off: frozenset[str] = frozenset()
    overflow_open: bool = True
