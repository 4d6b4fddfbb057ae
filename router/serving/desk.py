"""Takes tickets in, runs each to its answer, and lets an SDK's re-post join its running twin.

A run belongs to the replica, not to a connection: the connection asks for its answer, and may go away. What
then becomes of it is the run's own affair.
"""

from __future__ import annotations

import asyncio
import logging

from router.model.ticket import Ticket
from router.serving.answer import Answer
from router.serving.dispatch import Dispatch
from router.serving.run import Run
from router.serving.twins import Twins
from router.store.link import StoreDown

log = logging.getLogger("spillover.desk")


class Desk:
    """All runs of one replica, inside the task group that the replica lives in."""

    def __init__(self, dispatch: Dispatch, group: asyncio.TaskGroup, max_in_flight: int) -> None:
        self._dispatch = dispatch
        self._group = group
        self._max_in_flight = max_in_flight
        self._running: set[asyncio.Task[Answer]] = set()
        self._twins = Twins()

    def submit(self, ticket: Ticket, twin: str | None = None) -> Run | None:
        """Starts a run; `None` if the replica holds as many as it may. `twin`: the key of a re-post."""
        if len(self._running) >= self._max_in_flight:
            return None
        run = Run(ticket)
        task = self._group.create_task(self._carried(run))
        run.start(task)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if twin is not None:
            self._twins.add(twin, run)
            task.add_done_callback(lambda _: self._twins.ended(twin, run))
        return run

    def twin_of(self, key: str) -> Run | None:
        """The run that a re-post with this key joins, if there is one worth joining."""
        return self._twins.find(key)

    async def finished(self) -> None:
        """Waits until nothing runs any more."""
        while self._running:
            await asyncio.wait(self._running)

    def stop_all(self) -> None:
        """The process has to be gone: what still runs is given back as far as is known."""
        for task in self._running:
            task.cancel()

    def __len__(self) -> int:
        return len(self._running)

    async def _carried(self, run: Run) -> Answer:
        try:
            return await self._dispatch.carry(run.ticket, run)
        except StoreDown:
            return Answer("state_store_unavailable", paid=run.paid, retryable=not run.paid, retry_after_s=2.0)
        except Exception:
            log.exception("carrying a ticket failed", extra={"job_id": run.ticket.id})
            return Answer("internal_error", paid=run.paid, retryable=False)
