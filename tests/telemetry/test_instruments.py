"""Each event moves exactly the numbers it should."""

from __future__ import annotations

import pytest

from router.telemetry import events as e
from router.telemetry.events import Event
from tests.telemetry.scenes import EVENTS
from tests.telemetry.scraping import sample, told

ATTEMPT = e.AttemptEnded("j", "home", "onprem", "w1", "d", "krea", None, "", 1.5, 1, "onprem")
ANSWER = e.Answered("j", "acme", "krea", "onprem", 200, 3.5, 0.7, 1, 1, request_class="interactive")

MOVES: dict[type[Event], dict[str, dict[str, str]]] = {
    e.Admitted: {"requests_admitted_total": {"tenant": "acme", "model": "krea", "class": "interactive"}},
    e.Refused: {"requests_refused_total": {"tenant": "acme", "code": "rate_limited"}},
    e.Decided: {"decisions_total": {"step": "try", "reason": "onprem_saturated"}},
    e.Queued: {"queue_entries_total": {"pool": "home"}},
    e.Leased: {
        "leases_total": {"pool": "home", "how": "offered"},
        "slot_wait_duration_seconds_count": {"pool": "home"},
    },
    e.Denied: {"denials_total": {"pool": "home", "why": "no_free_slot"}},
    e.AttemptEnded: {
        "attempts_total": {"pool": "home", "place": "onprem", "model": "krea", "fault": "lost_lease"},
        "attempt_failures_total": {"pool": "home", "code": "cut_by_claim"},
        "worker_failures_total": {"pool": "home", "worker": "w1"},
        "attempts_cut_total": {"pool": "home"},
        "images_made_total": {"pool": "home", "model": "krea"},
        "attempt_duration_seconds_count": {"pool": "home", "model": "krea"},
    },
    e.Spilled: {"spills_total": {"pool": "fal", "model": "krea", "reason": "onprem_saturated"}},
    e.Held: {"cost_held_usd_total": {"account": "fal"}},
    e.Settled: {"cost_settled_usd_total": {"account": "fal"}},
    e.Answered: {
        "requests_total": {"tenant": "acme", "model": "krea", "route": "external", "status": "502"},
        "requests_failed_total": {"tenant": "acme", "code": "upstream_error"},
        "images_delivered_total": {"tenant": "acme", "model": "krea", "route": "external"},
        "request_duration_seconds_count": {"model": "krea", "class": "interactive", "route": "external"},
        "request_queue_duration_seconds_count": {"model": "krea", "route": "external"},
    },
    e.ClaimMoved: {
        "claim_moves_total": {"phase": "held"},
        "claim_phase_duration_seconds_count": {"phase": "held"},
    },
    e.FlagMoved: {"flag_moves_total": {"kind": "node", "to": "on"}},
    e.WorkerMoved: {"worker_moves_total": {"pool": "home", "state": "down"}},
    e.GhostsEnded: {"ghosts_ended_total": {"pool": "home"}},
    e.LeadershipMoved: {"leadership_moves_total": {"to": "on"}},
    e.StoreLost: {"store_losses_total": {}},
    e.LoopLagged: {"loop_lag_seconds_total": {}},
}
AMOUNTS = {
    "spillover_images_made_total": 2,
    "spillover_images_delivered_total": 3,
    "spillover_cost_held_usd_total": 0.04,
    "spillover_cost_settled_usd_total": 0.03,
    "spillover_ghosts_ended_total": 4,
    "spillover_loop_lag_seconds_total": 0.25,
}


def moved(*events: Event) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The samples above zero, without histograms' buckets and sums."""
    return {
        key: value
        for key, value in told(events).items()
        if value and key[0].startswith("spillover_") and not key[0].endswith(("_bucket", "_sum"))
    }


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_moves_its_numbers_and_no_others(event: Event) -> None:
    expected = {sample(f"spillover_{name}", **labels) for name, labels in MOVES[type(event)].items()}
    assert set(moved(event)) == expected
    for (name, _), value in moved(event).items():
        assert value == pytest.approx(AMOUNTS.get(name, 1))


def test_an_attempt_that_made_images_is_no_failure() -> None:
    names = {name for name, _ in moved(ATTEMPT)}
    assert names == {
        "spillover_attempts_total",
        "spillover_attempt_duration_seconds_count",
        "spillover_images_made_total",
    }
    assert moved(ATTEMPT)[sample("spillover_attempts_total", **ATTEMPT_LABELS)] == 1


ATTEMPT_LABELS = {"pool": "home", "place": "onprem", "model": "krea", "fault": "none"}


def test_an_external_failure_blames_no_worker() -> None:
    event = e.AttemptEnded(
        "j", "fal", "external", "", "fal", "krea", "refused", "busy", 0.2, 0, "onprem_claimed"
    )
    assert {name for name, _ in moved(event)} == {
        "spillover_attempts_total",
        "spillover_attempt_duration_seconds_count",
        "spillover_attempt_failures_total",
    }


def test_a_finished_ticket_is_no_failure() -> None:
    assert {name for name, _ in moved(ANSWER)} == {
        "spillover_requests_total",
        "spillover_request_duration_seconds_count",
        "spillover_request_queue_duration_seconds_count",
        "spillover_images_delivered_total",
    }


def test_a_ticket_that_was_never_attempted_has_no_route() -> None:
    event = e.Answered("j", "acme", "krea", "", 503, 0.1, 0.1, 0, 0, code="no_capacity")
    assert sample(
        "spillover_requests_total", tenant="acme", model="krea", route="none", status="503"
    ) in moved(event)


def test_switches_count_both_ways() -> None:
    off = moved(
        e.FlagMoved("node", "n", False),
        e.WorkerMoved("home", "w1", True),
        e.LeadershipMoved(False),
        e.Leased("home", "w1", "n", 0.0, False),
    )
    assert sample("spillover_flag_moves_total", kind="node", to="off") in off
    assert sample("spillover_worker_moves_total", pool="home", state="up") in off
    assert sample("spillover_leadership_moves_total", to="off") in off
    assert sample("spillover_leases_total", pool="home", how="free") in off


def test_values_fall_into_their_buckets() -> None:
    told_ = told([e.Leased("home", "w1", "n", seconds, False) for seconds in (0.0, 0.005, 0.006, 61.0)])
    name = "spillover_slot_wait_duration_seconds"
    assert told_[sample(f"{name}_bucket", pool="home", le="0.005")] == 2
    assert told_[sample(f"{name}_bucket", pool="home", le="0.025")] == 3
    assert told_[sample(f"{name}_bucket", pool="home", le="60.0")] == 3
    assert told_[sample(f"{name}_bucket", pool="home", le="+Inf")] == 4
    assert told_[sample(f"{name}_sum", pool="home")] == pytest.approx(61.011)
