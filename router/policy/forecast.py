"""When would a ticket start? The pool's queue played forward onto its slots, once a snapshot.

Groups of workers with the same lanes and the same closing time are one heap of free moments. Waiters are
placed in order of rank on the earliest slot they fit; what a newcomer of some rank would find is read off.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from router.model.fleet import PoolView, WorkerView

NEVER = float("inf")
OVERRUN_S = 0.5
"""Work past its predicted end is expected to end this soon from now."""
LEVEL_S = 0.002
"""Ranks are kept in whole milliseconds, rounded down: a waiter this close is the asking ticket itself."""


Moments = tuple[tuple[float, float], ...]


@dataclass(slots=True)
class _Group:
    closes_at: float
    free_at: list[float]

    def start_for(self, need_s: float) -> float:
        start = self.free_at[0]
        return start if start + need_s <= self.closes_at else NEVER

    def take(self, need_s: float) -> None:
        heapq.heapreplace(self.free_at, self.free_at[0] + need_s)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicted starts in one pool. `ranks[i]` is the rank of the i-th waiter; `starts[lane][i]` are the
    earliest free moments of the lane with the first i waiters placed: for each group of workers one, with the
    moment the group closes."""

    ranks: Sequence[float] = ()
    starts: Mapping[str, Sequence[Moments]] = field(default_factory=dict)
    tail_s: float = 0.0

    def start(self, lane: str, rank: float, need_s: float = 0.0) -> float:
        """When a ticket of this rank would start (store time); `NEVER` if no slot is coming that stays open
        for the `need_s` seconds it takes."""
        if lane not in self.starts:
            return NEVER
        ahead = bisect_left(self.ranks, rank - LEVEL_S)
        behind_s = self.tail_s if ahead == len(self.ranks) else 0.0
        moments = ((free_at + behind_s, closes_at) for free_at, closes_at in self.starts[lane][ahead])
        return min(
            (free_at for free_at, closes_at in moments if free_at + need_s <= closes_at), default=NEVER
        )


def forecast(pool: PoolView, now: float) -> Forecast:
    """Plays the queue of one pool forward from `now`. O((waiters x groups + slots) log slots)."""
    groups = _groups(pool, now)
    lanes = {lane for served in groups for lane in served}
    ranks: list[float] = []
    starts = {lane: [_earliest(groups, lane)] for lane in lanes}
    for waiter in pool.queue:
        ranks.append(waiter.rank)
        changed = _place(groups, waiter.lane, waiter.need_s)
        for lane, moments in starts.items():
            moments.append(_earliest(groups, lane) if lane in changed else moments[-1])
    return Forecast(ranks, starts, _tail(pool, groups))


def _groups(pool: PoolView, now: float) -> dict[frozenset[str], list[_Group]]:
    moments: dict[tuple[frozenset[str], float], list[float]] = defaultdict(list)
    if pool.open:
        for worker in pool.workers:
            if worker.takes_work:
                closes_at = NEVER if worker.closes_at is None else worker.closes_at
                moments[worker.lanes, closes_at].extend(_free_moments(worker, now))
    groups: dict[frozenset[str], list[_Group]] = defaultdict(list)
    for (lanes, closes_at), free_at in moments.items():
        if free_at:
            heapq.heapify(free_at)
            groups[lanes].append(_Group(closes_at, free_at))
    return groups


def _free_moments(worker: WorkerView, now: float) -> list[float]:
    """One moment for each slot. A worker that holds more than its slots (they were lowered) frees none until
    the surplus has ended."""
    busy = sorted(end if end > now else now + OVERRUN_S for end in worker.ends)
    return [now] * worker.free + busy[max(0, len(busy) - worker.slots) :]


def _earliest(groups: Mapping[frozenset[str], Sequence[_Group]], lane: str) -> Moments:
    serving = (group for lanes, some in groups.items() if lane in lanes for group in some)
    return tuple((group.free_at[0], group.closes_at) for group in serving)


def _place(groups: Mapping[frozenset[str], Sequence[_Group]], lane: str, need_s: float) -> frozenset[str]:
    """Puts one waiter on the slot it would get; returns the lanes whose moments that changes."""
    fitting = [(lanes, group) for lanes, some in groups.items() if lane in lanes for group in some]
    lanes, chosen = min(fitting, key=lambda one: one[1].start_for(need_s), default=(frozenset(), None))
    if chosen is None or chosen.start_for(need_s) == NEVER:
        return frozenset()
    chosen.take(need_s)
    return lanes


def _tail(pool: PoolView, groups: Mapping[frozenset[str], Sequence[_Group]]) -> float:
    """Seconds of work per slot behind the waiters that are listed."""
    hidden = pool.waiting - len(pool.queue)
    slots = sum(len(group.free_at) for some in groups.values() for group in some)
    if hidden <= 0 or not slots or not pool.queue:
        return 0.0
    return hidden * sum(waiter.need_s for waiter in pool.queue) / len(pool.queue) / slots
