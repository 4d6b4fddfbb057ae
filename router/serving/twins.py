"""Runs that a re-post may join: while they run, and for a while after, within a cap of memory."""

from __future__ import annotations

import asyncio

from router.serving.run import TWIN_S, Run

KEPT_BYTES = 64 * 1024 * 1024
"""Answers of finished runs are kept for re-posts up to this much; the oldest go first."""


class Twins:
    """The joinable runs of one replica, by the key that a re-post would have."""

    def __init__(self, cap_bytes: int = KEPT_BYTES) -> None:
        self._cap_bytes = cap_bytes
        self._runs: dict[str, Run] = {}
        self._kept: dict[str, tuple[int, asyncio.TimerHandle]] = {}
        self._kept_bytes = 0

    def add(self, key: str, run: Run) -> None:
        """A newer run of the same key takes the place of an older one."""
        self._drop(key)
        self._runs[key] = run

    def find(self, key: str) -> Run | None:
        """The run that a re-post with this key joins, if there is one worth joining."""
        run = self._runs.get(key)
        return run if run is not None and run.worth_joining else None

    def ended(self, key: str, run: Run) -> None:
        """The run is over: its answer is kept for a while, and older ones make room for it."""
        if self._runs.get(key) is not run:
            return
        expiry = asyncio.get_running_loop().call_later(TWIN_S, self._drop, key)
        self._kept[key] = (run.kept_bytes, expiry)
        self._kept_bytes += run.kept_bytes
        while self._kept_bytes > self._cap_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        self._runs.pop(key, None)
        if key in self._kept:
            kept_bytes, expiry = self._kept.pop(key)
            self._kept_bytes -= kept_bytes
            expiry.cancel()
