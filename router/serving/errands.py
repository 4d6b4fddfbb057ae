"""Small duties that outlive the scope that has them: a slot to give back, a hold to settle."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger("spillover.errands")


class Errands:
    """Runs each duty to its end in the replica's task group. A duty that fails is told, and ends alone."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._running: set[asyncio.Task[None]] = set()

    def __call__(self, duty: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(_told(duty))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def finished(self) -> None:
        """Waits until there is nothing left to do."""
        while self._running:
            await asyncio.wait(self._running)

    def drop(self) -> None:
        """There is no time left: the store ends the rest by time and evidence."""
        for task in self._running:
            task.cancel()


async def _told(duty: Coroutine[Any, Any, None]) -> None:
    try:
        await duty
    except Exception:
        log.exception("a duty failed; the store ends what it would have ended by time or evidence")
