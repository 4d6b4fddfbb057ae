"""From an accepted request to its completion, by polling. Failing polls are no verdict: the work goes on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator

from providers.contract import Ended, Failed, Fault, Progress, Spent
from providers.fal.queue import Queue
from providers.fal.settings import Settings
from providers.fal.wire import Status, Ticket, read_status
from providers.http import Reply
from providers.retry_after import retry_after_s

GROWTH = 1.5
NOT_FOUND_LIMIT = 3  # a request may be unknown for a moment after its submit


async def follow(
    queue: Queue, ticket: Ticket, deadline: float
) -> AsyncGenerator[Progress | Status | Failed, None]:
    """`Progress` whenever it changed, then the status COMPLETED, or why we stopped asking."""
    last: Progress | None = None
    missing = 0
    pauses = _Pauses(queue.settings)
    while (request := queue.get(ticket.status_url, deadline)) is not None:
        reply = await queue.http.send(request)
        if isinstance(reply, Reply):
            missing = missing + 1 if reply.status == 404 else 0
            stopped = _stopped(reply, missing)
            if stopped is not None:
                yield stopped
                return
            status = read_status(reply) if reply.status in (200, 202) else None
            if status is not None and status.status == "COMPLETED":
                yield status
                return
            if status is not None and (progress := _progress(status)) != last:
                last = progress
                yield progress
        left = deadline - queue.clock()
        await asyncio.sleep(max(0.0, min(pauses.next(reply), left)))
    yield overdue()


def overdue(ended: Ended = Ended.UNKNOWN, spent: Spent = Spent.POSSIBLE) -> Failed:
    """The budget is over; the caller cancels or resumes."""
    return Failed(Fault.AMBIGUOUS, "deadline", "", ended, spent)


def _stopped(reply: Reply, missing: int) -> Failed | None:
    """Answers after which asking again is of no use. The work was paid for all the same: AMBIGUOUS."""
    detail = f"HTTP {reply.status}"
    if reply.status in (401, 402, 403):
        return Failed(Fault.AMBIGUOUS, "bad_credential", detail, Ended.UNKNOWN, Spent.POSSIBLE)
    if missing >= NOT_FOUND_LIMIT:
        return Failed(Fault.AMBIGUOUS, "request_not_found", detail, Ended.UNKNOWN, Spent.POSSIBLE)
    return None


def _progress(status: Status) -> Progress:
    queued = status.status == "IN_QUEUE"
    return Progress(queued, status.queue_position if queued else None)


class _Pauses:
    """Growing pauses with jitter, so that requests which began together do not poll together."""

    def __init__(self, settings: Settings) -> None:
        self._pause = settings.poll_first_s
        self._longest = settings.poll_longest_s

    def next(self, reply: Reply | Failed) -> float:
        pause, self._pause = self._pause, min(self._pause * GROWTH, self._longest)
        asked = retry_after_s(reply.headers) if isinstance(reply, Reply) else None
        return max(random.uniform(0.8, 1.2) * pause, asked or 0.0)
