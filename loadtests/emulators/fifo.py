"""The scheduler of a generation server: first in, first out, a fixed number at once, deaf to disconnects.

SGLang-Diffusion feeds one scheduler process through one queue: work runs in order of arrival whoever still
waits for it (sglang 0.5.23, scheduler_client.py). `barrier` is how such a server shows that all earlier work
has ended.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from loadtests.emulators.chores import Chores

T = TypeVar("T")


class Ticket(Generic[T]):
    """One piece of work in the queue. Its outcome is None if it was cancelled or forgotten."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self.work = work
        self.outcome: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None

    def settle(self, outcome: T | None) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    async def wait(self) -> T | None:
        """The outcome. A caller that stops waiting does not stop the work."""
        return await asyncio.shield(self.outcome)


class Fifo(Generic[T]):
    """Runs at most `slots` tickets at once, in order."""

    def __init__(self, slots: int, chores: Chores) -> None:
        self._slots = slots
        self._chores = chores
        self._waiting: deque[Ticket[T]] = deque()
        self._running: list[Ticket[T]] = []
        self._open = True

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def put(self, work: Callable[[], Awaitable[T]]) -> Ticket[T]:
        ticket = Ticket(work)
        if self._open:
            self._waiting.append(ticket)
            self._fill()
        else:
            ticket.settle(None)
        return ticket

    def cancel(self, ticket: Ticket[T]) -> None:
        """Take a ticket out, wherever it is; a running one frees its slot at once."""
        if ticket in self._waiting:
            self._waiting.remove(ticket)
        elif ticket in self._running:
            self._running.remove(ticket)
            if ticket.task is not None:
                ticket.task.cancel()
        ticket.settle(None)
        self._fill()

    def forget(self) -> None:
        """Drop everything and take nothing more, as a dying process does."""
        self._open = False
        while self._waiting:
            self._waiting.pop().settle(None)
        for ticket in list(self._running):
            self.cancel(ticket)

    async def barrier(self) -> None:
        """Return when everything that was received before this call has ended."""
        before = [ticket.outcome for ticket in (*self._running, *self._waiting)]
        if before:
            await asyncio.wait(before)

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self._slots:
            ticket = self._waiting.popleft()
            self._running.append(ticket)
            ticket.task = self._chores.start(self._run(ticket))

    async def _run(self, ticket: Ticket[T]) -> None:
        try:
            ticket.settle(await ticket.work())
        finally:
            ticket.settle(None)
            if ticket in self._running:
                self._running.remove(ticket)
                self._fill()
