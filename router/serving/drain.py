"""The end of a replica, step by step: not ready, still accepting, then only finishing, then gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LAST_CALL_S = 5.0
"""Queued tickets are spilled or refused this long before the process has to be gone."""


@dataclass(slots=True)
class Drain:
    """`began` (local monotonic) is set by the first SIGTERM."""

    grace_s: float
    limit_s: float
    monotonic: Callable[[], float]
    began: float | None = None

    def begin(self) -> None:
        """From now on the replica is not ready."""
        if self.began is None:
            self.began = self.monotonic()

    @property
    def ready(self) -> bool:
        """May new traffic be sent here?"""
        return self.began is None

    @property
    def accepting(self) -> bool:
        """Is a request that comes all the same still taken?"""
        return self.began is None or self._age() < self.grace_s

    @property
    def last_call(self) -> bool:
        """Is there too little time left to wait for a slot?"""
        return self.began is not None and self._age() >= max(0.0, self.limit_s - LAST_CALL_S)

    def _age(self) -> float:
        return self.monotonic() - (self.began or 0.0)
