"""A log line is one line of JSON with the ids of its request, whatever is in it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.telemetry.decision_log import DecisionLog
from router.telemetry.events import (
    Admitted,
    Answered,
    AttemptEnded,
    Decided,
    Event,
    LeadershipMoved,
    Queued,
    Refused,
    StoreLost,
)
from router.telemetry.logs import SERVER_LOGGERS, JsonLines, bound, configure_logging
from tests.telemetry.scenes import EVENTS


class Lines:
    """What was written so far."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    def __call__(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Logging of this process, given back as it was."""
    names = (*SERVER_LOGGERS, "")
    before = {
        name: (
            logging.getLogger(name).handlers,
            logging.getLogger(name).propagate,
            logging.getLogger(name).level,
        )
        for name in names
    }
    written = Lines()
    configure_logging("debug", written.stream)
    yield written
    for name, (handlers, propagate, level) in before.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_a_line_says_when_where_and_what(lines: Lines) -> None:
    logging.getLogger("spillover.x").warning("took %d s", 3)
    (line,) = lines()
    assert {name: line[name] for name in ("level", "logger", "message")} == {
        "level": "warning",
        "logger": "spillover.x",
        "message": "took 3 s",
    }
    assert line["ts"].endswith("+00:00")


def test_a_line_carries_what_its_task_is_about(lines: Lines) -> None:
    log = logging.getLogger("spillover.x")
    with bound(request_id="req-1", trace_id="t"):
        with bound(job_id="job-1"):
            log.info("inside")
        log.info("between")
    log.info("outside", extra={"job_id": "job-2"})
    inside, between, outside = lines()
    assert (inside["request_id"], inside["job_id"], inside["trace_id"]) == ("req-1", "job-1", "t")
    assert "job_id" not in between
    assert "request_id" not in outside
    assert outside["job_id"] == "job-2"


@given(st.text())
def test_nothing_can_begin_another_line(said: str) -> None:
    record = logging.LogRecord("x\nx", logging.INFO, "f", 1, said + "\r\n{}\u2028", None, None)
    written = JsonLines().format(record)
    assert len(written.splitlines()) == 1
    assert written.isascii()
    json.loads(written)


def test_an_exception_is_part_of_its_line(lines: Lines) -> None:
    try:
        raise ValueError("Authorization: Bearer canary-token")
    except ValueError:
        logging.getLogger("spillover.x").exception("failed")
    (line,) = lines()
    assert "ValueError" in line["exception"]
    assert "canary" not in lines.stream.getvalue()


@pytest.mark.parametrize("name", SERVER_LOGGERS)
def test_the_server_logs_through_the_same_handler(name: str) -> None:
    written = Lines()
    server = logging.getLogger(name)
    kept = server.handlers, logging.getLogger().handlers, logging.getLogger().level
    server.handlers = [logging.StreamHandler(io.StringIO())]
    try:
        configure_logging("info", written.stream)
        server.error("bad gateway")
        assert [line["logger"] for line in written()] == [name]
    finally:
        server.handlers, logging.getLogger().handlers = kept[:2]
        logging.getLogger().setLevel(kept[2])


LEVELS: list[tuple[Event, str | None]] = [
    (Decided("j", "try", "onprem_claimed", "fal", "external", 1, "v", 0.1), "info"),
    (Decided("j", "stop", "no_capacity", "", "", 1, "v", 0.1), "info"),
    (Decided("j", "stop", "done", "", "", 1, "v", 0.1), "debug"),
    (Decided("j", "try", "onprem", "home", "onprem", 1, "v", 0.1), "debug"),
    (Decided("j", "wait", "queued", "", "", 1, "v", 0.1), "debug"),
    (AttemptEnded("j", "home", "onprem", "w", "d", "m", None, "", 1.0, 1, "onprem"), "debug"),
    (AttemptEnded("j", "home", "onprem", "w", "d", "m", "refused", "busy", 1.0, 0, "onprem"), "info"),
    (AttemptEnded("j", "fal", "external", "", "d", "m", None, "", 1.0, 1, "onprem_claimed"), "info"),
    (Answered("j", "t", "m", "onprem", 200, 1.0, 0.0, 1, 1), "debug"),
    (Answered("j", "t", "m", "external", 200, 1.0, 0.0, 1, 1), "info"),
    (Answered("j", "t", "m", "onprem", 502, 1.0, 0.0, 1, 0, code="upstream_error"), "info"),
    (Refused("rate_limited", 429), "info"),
    (LeadershipMoved(True), "info"),
    (StoreLost("tend: no answer"), "warning"),
    (Queued("home", "krea", 3), None),
    (Admitted("j", "r", "t", "m", "c"), None),
]


@pytest.mark.parametrize(("event", "level"), LEVELS)
def test_spills_refusals_and_failures_are_seen(lines: Lines, event: Event, level: str | None) -> None:
    DecisionLog().record(event)
    assert [line["level"] for line in lines()] == ([level] if level else [])


def test_a_line_holds_the_event(lines: Lines) -> None:
    DecisionLog().record(EVENTS[2])
    (line,) = lines()
    assert line["logger"] == "spillover.decisions"
    assert line["message"] == "Decided"
    assert line["reason"] == "onprem_saturated"
    assert (line["pool"], line["facts"], line["rules"], line["age_s"]) == ("fal", 2, "v1", 0.2)


def test_a_level_that_is_off_costs_no_line(lines: Lines) -> None:
    logging.getLogger().setLevel("INFO")
    DecisionLog().record(LEVELS[2][0])
    assert lines() == []
