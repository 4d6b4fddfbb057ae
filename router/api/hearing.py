"""Waits for an answer, and notices at once when the client has gone."""

from __future__ import annotations

import asyncio

from starlette.types import Receive

from router.serving.answer import Answer
from router.serving.run import Run


async def heard(run: Run, receive: Receive) -> Answer | None:
    """The run's answer, or `None` if the client left first; the desk decides what becomes of the run."""
    try:
        return await _first(run, receive)
    finally:
        run.left()  # only now, when this listener is no longer counted


async def _first(run: Run, receive: Receive) -> Answer | None:
    async with asyncio.TaskGroup() as group:
        answer = group.create_task(run.answer())
        gone = group.create_task(_gone(receive))
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        ended = answer.done()
        answer.cancel()
        gone.cancel()
    return answer.result() if ended else None


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
