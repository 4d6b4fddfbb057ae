"""The three steps a policy can ask for, and the history it is asked with."""

from __future__ import annotations

from dataclasses import dataclass

from providers.contract import Ended, Fault, Spent


@dataclass(frozen=True, slots=True)
class OnPrem:
    """A slot in `pool`. `rank` is the latest start (seconds of store time), `need_s` the upper estimate of
    the time in the slot, `budget_s` what the work may hold it at most. At most 8 `preferred` workers, in
    order; workers in `avoid` are not given. `queue`: stand in the pool's queue if nothing is free."""

    pool: str
    lane: str
    rank: float
    need_s: float
    budget_s: float
    preferred: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    queue: bool = True


@dataclass(frozen=True, slots=True)
class External:
    """A paid attempt: `price` (micro-USD) is held before anything is sent."""

    pool: str
    target: str
    price: int
    budget_s: float


Placement = OnPrem | External


@dataclass(frozen=True, slots=True)
class Try:
    """Make one attempt there. `reason` says why there: `onprem`, or why it spilled."""

    placement: Placement
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Keep the place in the queue; ask again at `until` (store time), on an offer, or on a new snapshot."""

    until: float
    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """It is over: `reason` is `done`, or a refusal's code. `retry_after_s` is for the refused client."""

    reason: str
    retry_after_s: float | None = None


Step = Try | Wait | Stop


@dataclass(frozen=True, slots=True)
class Queued:
    """It stands in a pool's queue since `at`, with about `ahead` better-ranked waiters of its lane."""

    pool: str
    at: float
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class Left:
    """It gave its queue place up at `at`, to be placed elsewhere."""

    pool: str
    at: float


@dataclass(frozen=True, slots=True)
class Denied:
    """A lost race or a refused hold: an ordinary answer. Not asked again before `until`."""

    pool: str
    why: str
    at: float
    until: float


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt that is over. `made` images were delivered; `fault` is `None` if it produced any.

    `reason` is the one its step gave. `at` is its end, store time. `worker` is empty for an external one.
    """

    pool: str
    reason: str
    at: float
    paid: bool = False
    worker: str = ""
    made: int = 0
    fault: Fault | None = None
    code: str = ""
    ended: Ended = Ended.YES
    spent: Spent = Spent.NO
    retry_after_s: float | None = None


Fact = Queued | Left | Denied | Tried
History = tuple[Fact, ...]
