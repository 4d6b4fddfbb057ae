"""Background tasks of one emulator: kept referenced while they run, and none outlives its emulator.

A task group would cancel its whole body when one chore fails; a test wants its own assertion first. So a
failed chore is remembered and raised at the end.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Chores:
    """Starts coroutines as tasks and ends them all at `stop`."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failures: list[BaseException] = []

    def start(self, chore: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(chore)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def stop(self) -> None:
        """Cancel what still runs, wait for it, and raise the first failure of any chore."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._failures:
            raise self._failures[0]

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        failure = None if task.cancelled() else task.exception()
        if failure is not None:
            self._failures.append(failure)
