"""One ticket being carried, and who still wants its answer."""

from __future__ import annotations

import asyncio
from typing import Protocol

from router.model.ticket import Ticket
from router.serving.answer import Answer

TWIN_S = 15.0
"""A disconnected or finished request can be joined by a re-post for this long."""


class Commitment(Protocol):
    """Whom the journey tells that money is at stake, and that it is not any more."""

    def pay(self) -> None: ...

    def unspent(self) -> None: ...


class Run:
    """`paid`: money was committed at some time. While it may be spent, the run goes on whoever leaves."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.paid = False
        self._committed = False
        self._listeners = 0
        self._task: asyncio.Task[Answer] | None = None
        self._ending: asyncio.TimerHandle | None = None

    def start(self, task: asyncio.Task[Answer]) -> None:
        """The task that carries the ticket."""
        self._task = task

    def pay(self) -> None:
        """From here on the run goes to its end."""
        self.paid = self._committed = True

    def unspent(self) -> None:
        """The attempt cost nothing: a run that nobody waits for buys nothing more."""
        self._committed = False
        if not self._listeners:
            self._end()

    async def answer(self) -> Answer:
        """The answer. Being cancelled here only means that this listener has left: then call `left`."""
        assert self._task is not None
        self._listeners += 1
        if self._ending is not None:
            self._ending.cancel()
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

    @property
    def kept_bytes(self) -> int:
        """What its answer holds in memory, once it has one."""
        if self._task is None or not self._task.done() or self._task.cancelled():
            return 0
        return sum(len(image.b64) for image in self._task.result().images)

    def left(self) -> None:
        """A listener has gone. Without another, unpaid work ends; a joinable run waits for its twin first."""
        if not self._listeners and not self._committed:
            self._end()

    def _end(self) -> None:
        if self._task is None or self._task.done():
            return
        if self._ending is not None:
            self._ending.cancel()
        if self.ticket.joinable:
            self._ending = asyncio.get_running_loop().call_later(TWIN_S, self._end_unheard)
        else:
            self._task.cancel()

    def _end_unheard(self) -> None:
        if self._task is not None and not self._committed and not self._listeners:
            self._task.cancel()
