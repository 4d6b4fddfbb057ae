"""Store time: what the Redis server's clock says, followed between calls by the local monotonic clock.

Deadlines and ranks are store time, so that replicas agree; the fastest round trip gives the best offset.
"""

from __future__ import annotations

from collections.abc import Callable

SLACK_S = 0.005
"""A reply that disagrees with the clock by this much more than its own round trip shows a step."""


class StoreClock:
    """Seconds since the epoch by the server's clock. `heard` is told the times that come with replies."""

    def __init__(self, monotonic: Callable[[], float], wall: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._offset = wall() - monotonic()
        self._best_trip = float("inf")

    def now(self) -> float:
        """Store time, seconds."""
        return self._monotonic() + self._offset

    def monotonic(self) -> float:
        """Local monotonic seconds, for durations and the send fence."""
        return self._monotonic()

    def until(self, moment: float) -> float:
        """Seconds from now until a moment of store time; never negative."""
        return max(0.0, moment - self.now())

    def heard(self, server_s: float, asked: float, answered: float) -> None:
        """The server said `server_s` in a reply between two local monotonic moments."""
        trip, offset = answered - asked, server_s - (asked + answered) / 2
        if abs(offset - self._offset) > trip + SLACK_S:
            self._best_trip = float("inf")  # the server's clock was set, or it is another server
        self._best_trip *= 1.001  # an old best slowly stops being trusted, for drift
        if trip <= self._best_trip:
            self._best_trip = trip
            self._offset = offset

    def skew(self) -> float:
        """Seconds that the local wall clock is ahead of the server's."""
        return self._wall() - self.now()
