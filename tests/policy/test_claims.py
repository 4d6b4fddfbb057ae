"""A claim moves along its edges only; it is held when its nodes are clear, and never freed by time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.model.claim import ENDED, Claim, Occupancy, Phase
from router.policy.claims import STUCK_AFTER_S, advance, ended, release

CLEAR = Occupancy(0, 0, 0)
EDGES = {
    (Phase.REQUESTED, Phase.DRAINING),
    (Phase.DRAINING, Phase.HELD),
    (Phase.REQUESTED, Phase.RELEASING),
    (Phase.DRAINING, Phase.RELEASING),
    (Phase.HELD, Phase.RELEASING),
    (Phase.RELEASING, Phase.RELEASED),
    (Phase.RELEASING, Phase.CANCELLED),
}


def claim(phase: Phase = Phase.REQUESTED, **given_: object) -> Claim:
    """Asked for at 0, drained from 10, cut at 30, expiring at 100."""
    times = {"requested_at": 0.0, "drain_at": 10.0, "cut_at": 30.0, "expires_at": 100.0}
    spans = {"notice_s": 10.0, "grace_s": 20.0, "ttl_s": 100.0}
    known = Claim(1, "clm-1", ("n1", "n2"), "slurm", "", "ops", phase, **times, **spans)
    return replace(known, **given_)  # type: ignore[arg-type]


def test_a_claim_waits_for_its_notice_then_drains_then_is_held() -> None:
    asked = claim()
    assert advance(asked, CLEAR, 9.9) is asked
    draining = advance(asked, CLEAR, 10.0)
    assert draining == replace(asked, phase=Phase.DRAINING)
    held = advance(draining, CLEAR, 11.0)
    assert (held.phase, held.held_at) == (Phase.HELD, 11.0)
    assert advance(held, CLEAR, 12.0) is held


@pytest.mark.parametrize("left", [Occupancy(1, 0, 0), Occupancy(0, 1, 0), Occupancy(0, 0, 1)])
def test_one_lease_offer_or_ghost_is_enough_to_wait(left: Occupancy) -> None:
    draining = claim(Phase.DRAINING)
    assert advance(draining, left, 1e9).phase is Phase.DRAINING


def test_nodes_that_do_not_clear_are_alarmed_once_and_the_alarm_ends_with_it() -> None:
    draining = claim(Phase.DRAINING)
    assert advance(draining, Occupancy(1, 0, 0), 30.0 + STUCK_AFTER_S - 0.1) is draining
    stuck = advance(draining, Occupancy(1, 2, 3), 30.0 + STUCK_AFTER_S)
    assert stuck.alarm == "not clear: 1 leased, 2 offered, 3 abandoned"
    assert advance(stuck, Occupancy(1, 0, 0), 80.0) is stuck
    assert advance(stuck, CLEAR, 80.0).alarm == ""


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in ENDED])
def test_past_its_expiry_it_is_overdue_and_stays(phase: Phase) -> None:
    late = advance(claim(phase, drain_at=1e9), Occupancy(1, 0, 0), 100.0)
    assert late.overdue
    assert late.phase is phase
    assert advance(late, Occupancy(1, 0, 0), 101.0).overdue


@pytest.mark.parametrize("phase", sorted(ENDED))
def test_what_has_ended_stays_as_it_is(phase: Phase) -> None:
    over = claim(phase)
    assert advance(over, CLEAR, 1e9) is over
    assert release(over, 1e9) is over


@pytest.mark.parametrize("phase", [Phase.REQUESTED, Phase.DRAINING, Phase.HELD])
def test_its_owner_can_give_it_back_at_any_time(phase: Phase) -> None:
    back = release(claim(phase), 50.0)
    assert (back.phase, back.released_at) == (Phase.RELEASING, 50.0)
    assert release(back, 60.0) is back


def test_it_was_released_if_it_was_held_and_else_cancelled() -> None:
    assert ended(claim(Phase.RELEASING, held_at=20.0, alarm="x")) == claim(Phase.RELEASED, held_at=20.0)
    assert ended(claim(Phase.RELEASING)).phase is Phase.CANCELLED


occupancies = st.builds(Occupancy, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
acts = st.one_of(
    st.tuples(st.just("advance"), occupancies),
    st.tuples(st.just("release"), st.just(CLEAR)),
    st.tuples(st.just("end"), st.just(CLEAR)),
)


@given(st.lists(st.tuples(acts, st.floats(0, 60)), max_size=20))
def test_only_the_edges_of_the_machine(story: list[tuple[tuple[str, Occupancy], float]]) -> None:
    now, was = 0.0, claim()
    for (act, occupancy), passed in story:
        now += passed
        if act == "advance":
            will = advance(was, occupancy, now)
            assert will.phase is not Phase.RELEASING or was.phase is Phase.RELEASING
            assert will.phase is not Phase.HELD or was.phase is Phase.HELD or occupancy.clear
        elif act == "release":
            will = release(was, now)
        else:
            will = ended(was) if was.phase is Phase.RELEASING else was
        assert will.phase is was.phase or (was.phase, will.phase) in EDGES
        assert will.overdue or not was.overdue
        assert (will.held_at is not None) is (was.held_at is not None or will.phase is Phase.HELD)
        was = will
