"""The forecast is what playing the queue forward slot by slot gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.model.fleet import PoolView, Waiter, WorkerView
from router.policy.forecast import LEVEL_S, NEVER, OVERRUN_S, Forecast, forecast
from tests.policy.playbook import NOW, crowd, pool, worker
from tests.policy.worlds import LANES, pools


class Slots:
    """Every slot by itself: (lanes, closing time, free from). The slow and obvious way."""

    def __init__(self, view: PoolView) -> None:
        open_ = [one for one in view.workers if view.open and one.takes_work and one.slots]
        self._kinds = list(dict.fromkeys(_kind(one) for one in open_))
        lanes = [kind[0] for kind in self._kinds]
        self._kinds.sort(key=lambda kind: lanes.index(kind[0]))  # ties go by lanes, then by closing time
        self.slots = [[*_kind(one), at] for one in open_ for at in _free_from(one)]

    def best(self, lane: str, need_s: float) -> list[object] | None:
        fitting = [slot for slot in self.slots if lane in slot[0] and slot[2] + need_s <= slot[1]]
        return min(fitting, key=lambda slot: (slot[2], self._kinds.index((slot[0], slot[1]))), default=None)

    def place(self, waiter: Waiter) -> None:
        slot = self.best(waiter.lane, waiter.need_s)
        if slot is not None:
            slot[2] = slot[2] + waiter.need_s


def _kind(one: WorkerView) -> tuple[frozenset[str], float]:
    return one.lanes, NEVER if one.closes_at is None else one.closes_at


def _free_from(one: WorkerView) -> list[float]:
    ends = sorted(end if end > NOW else NOW + OVERRUN_S for end in one.ends)
    if len(ends) >= one.slots:
        return ends[len(ends) - one.slots :]
    return [NOW] * (one.slots - len(ends)) + ends


def played(view: PoolView, lane: str, rank: float, need_s: float) -> float:
    """When a newcomer would start, played out."""
    slots = Slots(view)
    ahead = [waiter for waiter in view.queue if waiter.rank < rank - LEVEL_S]
    for waiter in ahead:
        slots.place(waiter)
    behind = 0.0
    if len(ahead) == len(view.queue) and view.queue and slots.slots:
        mean = sum(waiter.need_s for waiter in view.queue) / len(view.queue)
        behind = max(0, view.waiting - len(view.queue)) * mean / len(slots.slots)
    moments = [(at + behind, closes) for lanes, closes, at in slots.slots if lane in lanes]
    return min((at for at, closes in moments if at + need_s <= closes), default=NEVER)


@settings(max_examples=200, deadline=None)
@given(pools(), st.sampled_from(LANES), st.floats(NOW - 100, NOW + 200), st.floats(0, 60))
def test_it_is_what_playing_it_out_gives(view: PoolView, lane: str, rank: float, need_s: float) -> None:
    predicted, actual = forecast(view, NOW).start(lane, rank, need_s), played(view, lane, rank, need_s)
    assert predicted == (actual if actual == NEVER else pytest.approx(actual))


@settings(max_examples=100, deadline=None)
@given(pools(), st.sampled_from(LANES), st.floats(0, 60))
def test_a_later_rank_never_starts_earlier(view: PoolView, lane: str, need_s: float) -> None:
    said = forecast(view, NOW)
    starts = [said.start(lane, NOW - 200 + 10 * n, need_s) for n in range(40)]
    assert starts == sorted(starts)


@settings(max_examples=200, deadline=None)
@given(pools(), st.sampled_from(LANES), st.floats(NOW, NOW + 50), st.floats(0, 60), st.floats(0, 60))
def test_more_time_in_the_slot_never_starts_earlier(
    view: PoolView, lane: str, rank: float, one: float, other: float
) -> None:
    said = forecast(view, NOW)
    less, more = sorted((one, other))
    assert said.start(lane, rank, less) <= said.start(lane, rank, more)


def test_nothing_is_known_of_a_pool_without_workers() -> None:
    assert Forecast().start("krea", NOW) == NEVER
    assert forecast(pool(), NOW).start("krea", NOW) == NEVER
    assert forecast(pool(worker("w1"), open=False), NOW).start("krea", NOW) == NEVER


def test_work_past_its_end_is_expected_to_end_soon() -> None:
    assert forecast(pool(worker("w1", NOW - 5)), NOW).start("krea", NOW) == NOW + OVERRUN_S


def test_a_worker_without_slots_is_no_worker() -> None:
    """Regression: an empty group of slots raised an IndexError."""
    assert forecast(pool(worker("w1", slots=0)), NOW).start("krea", NOW) == NEVER
    assert forecast(pool(worker("w1", NOW + 5, slots=0)), NOW).start("krea", NOW) == NEVER


def test_slots_that_were_lowered_are_free_when_the_surplus_has_ended() -> None:
    """Regression: the first end counted as a free slot, although more work than slots was still running."""
    assert forecast(pool(worker("w1", NOW + 3, NOW + 9, NOW + 5)), NOW).start("krea", NOW) == NOW + 9


def test_waiters_nobody_listed_count_as_a_tail() -> None:
    view = PoolView("home", workers=(worker("w1"),), **{**crowd(NOW + 1, NOW + 2), "waiting": 5})
    said = forecast(view, NOW)
    assert said.start("krea", NOW + 3) == NOW + 4 + 6
    assert said.start("krea", NOW) == NOW


def test_a_waiter_that_fits_nowhere_takes_nothing() -> None:
    view = pool(worker("w1", closes_at=NOW + 1), **crowd(NOW + 1))
    assert forecast(view, NOW).start("krea", NOW + 2, 1.0) == NOW
    view = pool(worker("w1"), **crowd(NOW + 1, lane="other"))
    assert forecast(view, NOW).start("krea", NOW + 2) == NOW
