"""How things stand now: a value the router replaces every second or so, and what a scrape reads off it.

A scrape never asks the store: it shows the latest picture, and how old that picture is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from router.telemetry.counting import Spec

MICRO = 1e-6
Reading = tuple[Mapping[str, str], float]


@dataclass(frozen=True, slots=True)
class PoolNow:
    """One on-prem pool. `closed` are free slots that take no work: worker down, node flagged or claimed."""

    waiting: int = 0
    free: int = 0
    leased: int = 0
    offered: int = 0
    ghosts: int = 0
    closed: int = 0
    workers_up: int = 0
    workers_down: int = 0


@dataclass(frozen=True, slots=True)
class AccountNow:
    """One provider account; money of the current UTC day."""

    in_flight: int = 0
    concurrency: int = 0
    committed_micro_usd: int = 0
    budget_micro_usd: int = 0
    cooling: bool = False


@dataclass(frozen=True, slots=True)
class Gauges:
    """The whole picture, taken at a local monotonic moment; `claims` and `flags` count by phase and kind."""

    taken_at: float
    in_flight: int = 0
    leads: bool = False
    pools: Mapping[str, PoolNow] = field(default_factory=dict)
    accounts: Mapping[str, AccountNow] = field(default_factory=dict)
    claims: Mapping[str, int] = field(default_factory=dict)
    claims_overdue: int = 0
    claims_alarmed: int = 0
    flags: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gauge:
    """One metric, and how it is read off a picture at a local moment."""

    spec: Spec
    read: Callable[[Gauges, float], Iterator[Reading]]


def _slots(now: Gauges, _: float) -> Iterator[Reading]:
    for name, pool in now.pools.items():
        for state in ("free", "leased", "offered", "ghosts", "closed"):
            yield {"pool": name, "state": state}, getattr(pool, state)


def _workers(now: Gauges, _: float) -> Iterator[Reading]:
    for name, pool in now.pools.items():
        yield {"pool": name, "state": "up"}, pool.workers_up
        yield {"pool": name, "state": "down"}, pool.workers_down


def _per_account(value: Callable[[AccountNow], float]) -> Callable[[Gauges, float], Iterator[Reading]]:
    def read(now: Gauges, _: float) -> Iterator[Reading]:
        for name, account in now.accounts.items():
            yield {"account": name}, value(account)

    return read


def _counted(
    label: str, counts: Callable[[Gauges], Mapping[str, int]]
) -> Callable[[Gauges, float], Iterator[Reading]]:
    def read(now: Gauges, _: float) -> Iterator[Reading]:
        for word, count in counts(now).items():
            yield {label: word}, count

    return read


def _one(value: Callable[[Gauges, float], float]) -> Callable[[Gauges, float], Iterator[Reading]]:
    def read(now: Gauges, moment: float) -> Iterator[Reading]:
        yield {}, value(now, moment)

    return read


def _gauge(
    name: str, unit: str, help: str, read: Callable[[Gauges, float], Iterator[Reading]], *labels: str
) -> Gauge:
    return Gauge(Spec(f"spillover.{name}", unit, help, labels), read)


GAUGES = (
    _gauge("requests.in_flight", "1", "Tickets this replica carries.", _one(lambda now, _: now.in_flight)),
    _gauge(
        "queue.length",
        "1",
        "Tickets waiting, over all replicas.",
        _counted("pool", lambda now: {name: pool.waiting for name, pool in now.pools.items()}),
        "pool",
    ),
    _gauge("slots", "1", "Slots by what holds them.", _slots, "pool", "state"),
    _gauge("workers", "1", "Workers by what the probes found.", _workers, "pool", "state"),
    _gauge(
        "account.in_flight",
        "1",
        "Paid attempts in flight, over all replicas.",
        _per_account(lambda account: account.in_flight),
        "account",
    ),
    _gauge(
        "account.concurrency",
        "1",
        "Paid attempts an account runs at once at most.",
        _per_account(lambda account: account.concurrency),
        "account",
    ),
    _gauge(
        "account.committed",
        "usd",
        "Money held or spent this UTC day.",
        _per_account(lambda account: account.committed_micro_usd * MICRO),
        "account",
    ),
    _gauge(
        "account.budget",
        "usd",
        "Money that may be held or spent in a UTC day.",
        _per_account(lambda account: account.budget_micro_usd * MICRO),
        "account",
    ),
    _gauge(
        "account.cooling",
        "1",
        "1 while an account is left alone because it asked for it.",
        _per_account(lambda account: int(account.cooling)),
        "account",
    ),
    _gauge("claims", "1", "Claims that have not ended.", _counted("phase", lambda now: now.claims), "phase"),
    _gauge(
        "claims.overdue",
        "1",
        "Claims past their expiry; they stay until released.",
        _one(lambda now, _: now.claims_overdue),
    ),
    _gauge(
        "claims.alarmed",
        "1",
        "Claims whose nodes do not clear: somebody has to look.",
        _one(lambda now, _: now.claims_alarmed),
    ),
    _gauge("flags", "1", "Operators' switches that stand.", _counted("kind", lambda now: now.flags), "kind"),
    _gauge(
        "leader", "1", "1 on the replica that runs the control loops.", _one(lambda now, _: int(now.leads))
    ),
    _gauge(
        "snapshot.age",
        "s",
        "Age of the picture these gauges and the policy see.",
        _one(lambda now, moment: max(0.0, moment - now.taken_at)),
    ),
)
