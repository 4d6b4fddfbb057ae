"""Prints what recording costs: `python -m tests.telemetry.cost_of_recording`. A measurement, not a test."""

from __future__ import annotations

import logging
import sys
import time

from router.telemetry import events as e
from router.telemetry.otel import open_telemetry
from tests.telemetry.scenes import EVENTS, LABELS

ROUNDS = 20_000
REQUEST: tuple[e.Event, ...] = (
    e.Admitted("j", "r", "acme", "krea", "interactive"),
    e.Decided("j", "try", "onprem", "home", "onprem", 0, "v1", 0.1),
    e.Leased("home", "w1", "n", 0.01, False),
    e.AttemptEnded("j", "home", "onprem", "w1", "d", "krea", None, "", 1.2, 1, "onprem"),
    e.Decided("j", "stop", "done", "", "", 1, "v1", 0.1),
    e.Answered("j", "acme", "krea", "onprem", 200, 1.3, 0.01, 1, 1, "interactive"),
)


def main() -> None:
    """Microseconds for each event of an ordinary request, and for each kind of event."""
    logging.disable(logging.CRITICAL)  # lines are written by others than the recorder
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        _say("an ordinary request, each event", _cost(telemetry.record, REQUEST))
        for event in EVENTS:
            _say(type(event).__name__, _cost(telemetry.record, (event,)))
        started = time.perf_counter()
        telemetry.prometheus()
        _say("one scrape", (time.perf_counter() - started) * 1e6)


def _cost(record: e.Record, events: tuple[e.Event, ...]) -> float:
    started = time.perf_counter()
    for _ in range(ROUNDS):
        for event in events:
            record(event)
    return (time.perf_counter() - started) / ROUNDS / len(events) * 1e6


def _say(what: str, microseconds: float) -> None:
    sys.stdout.write(f"{what:34} {microseconds:10.2f} us\n")


if __name__ == "__main__":
    main()
