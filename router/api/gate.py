"""What the edge needs of one replica. Made by `router.app`, and given to `application.build`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from config.schema import Config
from router.fleet.claims import Claims
from router.fleet.flags import Flags
from router.model.rules import Rules
from router.serving.desk import Desk
from router.serving.drain import Drain
from router.serving.lookout import Lookout
from router.store.clock import StoreClock
from router.store.control import Control
from router.telemetry.events import Record
from router.telemetry.spans import Spans

SILENT_S = 1.0
"""A store silent for longer than this is asked for nothing: requests are refused at once."""
NOT_READY_S = 1.5
"""A store silent for longer than this makes the replica not ready."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One replica, seen from its edge. `new_id` makes ids of jobs."""

    config: Config
    rules: Rules
    desk: Desk
    lookout: Lookout
    drain: Drain
    clock: StoreClock
    claims: Claims
    flags: Flags
    control: Control
    record: Record
    spans: Spans
    prometheus: Callable[[], tuple[bytes, str]]
    replica: str
    new_id: Callable[[], str]

    @property
    def sees_the_store(self) -> bool:
        """Is the picture of the fleet whole and fresh enough to act on?"""
        return self.lookout.complete and self.lookout.silent_for() <= SILENT_S

    def why_not_ready(self) -> tuple[str, ...]:
        """The reasons for which new traffic should go elsewhere; none if it may come."""
        reasons = {
            "draining": not self.drain.ready,
            "store_silent": self.lookout.silent_for() > NOT_READY_S,
            "fleet_not_seen": not self.lookout.complete,
        }
        return tuple(name for name, holds in reasons.items() if holds)
