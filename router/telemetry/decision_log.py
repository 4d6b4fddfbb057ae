"""One log line for each decision, attempt and answer, and for each change of the fleet.

Spills, refusals and failures are `info`, so that they are seen; what went as usual is `debug`. A line holds
the event's own fields and nothing else.
"""

from __future__ import annotations

import logging
from dataclasses import fields

from router.telemetry import events as e

decisions = logging.getLogger("spillover.decisions")
fleet = logging.getLogger("spillover.fleet")


class DecisionLog:
    """Writes events as log lines; see `logs.py` for their shape."""

    def record(self, event: e.Event) -> None:
        """Writes the line, if there is one and its level is on."""
        match event:
            case e.Decided() | e.AttemptEnded() | e.Answered() | e.Refused():
                level = logging.INFO if _notable(event) else logging.DEBUG
                _write(decisions, level, event)
            case e.ClaimMoved() | e.FlagMoved() | e.WorkerMoved() | e.LeadershipMoved() | e.GhostsEnded():
                _write(fleet, logging.INFO, event)
            case e.StoreLost() | e.LoopLagged():
                _write(fleet, logging.WARNING, event)
            case _:
                return


def _notable(event: e.Decided | e.AttemptEnded | e.Answered | e.Refused) -> bool:
    match event:
        case e.Decided():
            return event.place == "external" or (event.kind == "stop" and event.reason != "done")
        case e.AttemptEnded():
            return event.place == "external" or event.fault is not None
        case e.Answered():
            return event.route == "external" or event.code != "done"
        case e.Refused():
            return True


def _write(log: logging.Logger, level: int, event: e.Event) -> None:
    if log.isEnabledFor(level):
        told = {field.name: getattr(event, field.name) for field in fields(event)}
        log.log(level, type(event).__name__, extra={"told": told})
