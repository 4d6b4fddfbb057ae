"""Takes tickets in, runs each to its answer, and lets an SDK's re-post join its running twin.

A run belongs to the replica, not to a connection: the connection asks for its answer, and may go away. What
happens then is decided here: unpaid work ends at once, unless a re-post by the client's SDK may still come;
paid work runs on.
"""

from __future__ import annotations

import asyncio
import logging

from router.model.ticket import Ticket
from router.serving.answer import Answer
from router.serving.dispatch import Dispatch
from router.store.link import StoreDown

TWIN_S = 15.0
"""A disconnected or finished request can be joined by a re-post for this long."""

log = logging.getLogger("spillover.desk")


class Run:
    """One ticket being carried. `paid`: money is committed, so it is never given up for a disconnect."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.paid = False
        self._listeners = 0
        self._task: asyncio.Task[Answer] | None = None

    def start(self, task: asyncio.Task[Answer]) -> None:
        """The task that carries the ticket."""
        self._task = task

    def pay(self) -> None:
        """From here on the run goes to its end."""
        self.paid = True

    async def answer(self) -> Answer:
        """The answer. Being cancelled here only means that this listener has left: then call `left`."""
        assert self._task is not None
        self._listeners += 1
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if self._task.cancelled() and not (me and me.cancelling()):
                return Answer("draining", paid=self.paid, retryable=not self.paid, retry_after_s=1.0)
            raise
        finally:
            self._listeners -= 1

    @property
    def worth_joining(self) -> bool:
        """Is it running, or did it end in a way that a re-post should hear of?"""
        if self._task is None or not self._task.done():
            return True
        return not self._task.cancelled() and (self._task.result().done or not self._task.result().retryable)

    def left(self) -> None:
        """A listener has gone. Without another, unpaid work ends; a joinable run waits for its twin first."""
        if self._task is None or self.paid or self._listeners or self._task.done():
            return
        if self.ticket.joinable:
            asyncio.get_running_loop().call_later(TWIN_S, self._end_unheard)
        else:
            self._task.cancel()

    def _end_unheard(self) -> None:
        if self._task is not None and not self.paid and not self._listeners:
            self._task.cancel()


class Desk:
    """All runs of one replica, inside the task group that the replica lives in."""

    def __init__(self, dispatch: Dispatch, group: asyncio.TaskGroup, max_in_flight: int) -> None:
        self._dispatch = dispatch
        self._group = group
        self._max_in_flight = max_in_flight
        self._running: set[asyncio.Task[Answer]] = set()
        self._twins: dict[str, Run] = {}

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
            self._twins[twin] = run
            task.add_done_callback(lambda _: self._forget_later(twin, run))
        return run

    def twin_of(self, key: str) -> Run | None:
        """The run that a re-post with this key joins, if there is one worth joining."""
        run = self._twins.get(key)
        return run if run is not None and run.worth_joining else None

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
            return await self._dispatch.carry(run.ticket, run.pay)
        except StoreDown:
            return Answer("state_store_unavailable", paid=run.paid, retryable=not run.paid, retry_after_s=2.0)
        except Exception:
            log.exception("carrying a ticket failed", extra={"job_id": run.ticket.id})
            return Answer("internal_error", paid=run.paid, retryable=False)

    def _forget_later(self, key: str, run: Run) -> None:
        def forget() -> None:
            if self._twins.get(key) is run:
                del self._twins[key]

        asyncio.get_running_loop().call_later(TWIN_S, forget)
