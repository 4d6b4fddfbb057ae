"""The shape of `GET /admin/state`. Moments are seconds of store time, money is dollars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from router.model.claim import Claim, Flag

NodeState = Literal["open", "claimed", "draining", "held", "flagged"]


@dataclass(frozen=True, slots=True)
class StoreState:
    """How long the store has been silent, and how far the local clock is ahead of its."""

    silent_s: float | None
    skew_s: float


@dataclass(frozen=True, slots=True)
class SlotsState:
    """`free` counts only slots that would be given out; `ghost` is work that may run still."""

    total: int
    free: int
    leased: int
    offered: int
    ghost: int


@dataclass(frozen=True, slots=True)
class WorkerState:
    """One worker. `closed`: its node is flagged, or claimed with the notice over."""

    id: str
    node: str
    url: str
    up: bool
    closed: bool
    claimed: bool
    slots: int
    leased: int
    offered: int
    ghosts: int


@dataclass(frozen=True, slots=True)
class PoolState:
    """One on-prem pool."""

    name: str
    open: bool
    waiting: int
    slots: SlotsState
    workers: tuple[WorkerState, ...]


@dataclass(frozen=True, slots=True)
class AccountState:
    """One provider account; money of the current UTC day. `cooling_until`: `null` if it is not cooling."""

    name: str
    open: bool
    in_flight: int
    concurrency: int
    held_usd: float
    spent_usd: float
    budget_usd: float
    cooling_until: float | None


@dataclass(frozen=True, slots=True)
class NodeDocument:
    """One machine, and the pools that have workers on it."""

    name: str
    rack: str
    nvlink_domain: str
    state: NodeState
    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that a person has to look at."""

    kind: Literal["claim_overdue", "claim_alarm", "ghost_stuck"]
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class State:
    """The whole deployment as one replica sees it. `in_flight` and `ready` are this replica's own."""

    replica: str
    now: float
    ready: bool
    draining: bool
    in_flight: int
    waiting: int
    overflow_open: bool
    store: StoreState
    pools: tuple[PoolState, ...]
    accounts: tuple[AccountState, ...]
    nodes: tuple[NodeDocument, ...]
    claims: tuple[Claim, ...]
    flags: tuple[Flag, ...]
    alarms: tuple[Alarm, ...]
