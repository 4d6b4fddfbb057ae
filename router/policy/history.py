"""What a ticket's history amounts to: the few facts the next step depends on."""

from __future__ import annotations

from dataclasses import dataclass

from providers.contract import Fault, Spent
from router.model.step import Denied, Fact, History, Left, Queued, Tried
from router.model.ticket import Ticket

AT_FAULT = frozenset({Fault.FAILED_KNOWN, Fault.AMBIGUOUS, Fault.UNUSABLE})
"""Faults that speak against the back end, or cost a try: all but a lost race and a lost lease."""


@dataclass(frozen=True, slots=True)
class Past:
    """`standing`: the pool in whose queue it stands; `queued_at`: since when, or when it last did so.
    `barred`: pools not to be asked before a moment. `shunned`: workers that failed it.
    `onprem_failures` speak against the back end, `onprem_misses` are those and all else that cost a try.
    `paid_closed`: an earlier paid attempt may have been billed."""

    made: int
    tries: int
    standing: str | None
    queued_at: float | None
    last: Fact | None
    barred: dict[str, float]
    shunned: tuple[str, ...]
    onprem_failures: int
    onprem_misses: int
    deaths: int
    paid_closed: bool

    def missing(self, ticket: Ticket) -> int:
        """Images still to be made."""
        return ticket.generation.count - self.made

    def last_failure(self) -> Tried | None:
        """The latest fact, if it is an attempt that failed."""
        return self.last if isinstance(self.last, Tried) and self.last.fault is not None else None


def extend(history: History, fact: Fact) -> History:
    """The history with one more fact. What a newer fact makes idle is dropped: waiting long costs nothing."""
    if isinstance(fact, Denied):
        kept = tuple(old for old in history if not (isinstance(old, Denied) and old.pool == fact.pool))
    elif isinstance(fact, Queued):
        kept = tuple(old for old in history if not isinstance(old, Queued | Left))
    else:
        kept = history
    return (*kept, fact)


def recall(history: History) -> Past:
    """Reads a history from its beginning."""
    tried = [fact for fact in history if isinstance(fact, Tried)]
    onprem = [fact for fact in tried if not fact.paid]
    failed = [fact for fact in onprem if fact.fault in AT_FAULT]
    return Past(
        made=sum(fact.made for fact in tried),
        tries=sum(fact.fault is not Fault.LOST_LEASE for fact in tried),
        standing=_standing(history),
        queued_at=next((fact.at for fact in history if isinstance(fact, Queued)), None),
        last=history[-1] if history else None,
        barred=_barred(history),
        shunned=tuple(
            dict.fromkeys(fact.worker for fact in onprem if fact.fault is not None and fact.worker)
        )[-3:],
        onprem_failures=len(failed),
        onprem_misses=sum(fact.fault not in (None, Fault.LOST_LEASE) for fact in onprem),
        deaths=sum(fact.fault is Fault.AMBIGUOUS for fact in failed),
        paid_closed=any(fact.paid and fact.spent is not Spent.NO and not fact.made for fact in tried),
    )


def _standing(history: History) -> str | None:
    for fact in reversed(history):
        if isinstance(fact, Queued):
            return fact.pool
        if isinstance(fact, Left | Tried):
            return None
    return None


def _barred(history: History) -> dict[str, float]:
    barred: dict[str, float] = {}
    for fact in history:
        if isinstance(fact, Denied):
            barred[fact.pool] = max(barred.get(fact.pool, 0.0), fact.until)
        elif isinstance(fact, Tried) and fact.fault is not None and fact.paid:
            wait = _bar_s(fact)
            barred[fact.pool] = max(barred.get(fact.pool, 0.0), fact.at + wait)
    return barred


def _bar_s(fact: Tried) -> float:
    if fact.fault in (Fault.REFUSED, Fault.NOT_SENT):
        return fact.retry_after_s if fact.retry_after_s is not None else 1.0
    return float("inf")
