"""One bell a waiting ticket: rung when a slot is offered to it, or when the fleet has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Bell:
    """`rung` wakes its ticket; `offered` says that a slot may be waiting for it."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()
        self.offered = False

    async def wait(self, seconds: float) -> bool:
        """Waits for a ring, at most `seconds`. Says whether an offer may be there, and forgets both."""
        try:
            async with asyncio.timeout(seconds):
                await self.rung.wait()
        except TimeoutError:
            pass
        offered, self.offered = self.offered, False
        self.rung.clear()
        return offered


class Bells:
    """The bells of one replica's waiting tickets."""

    def __init__(self) -> None:
        self._bells: dict[str, Bell] = {}

    @contextmanager
    def hung(self, ticket: str) -> Iterator[Bell]:
        """A bell for the length of a scope."""
        bell = self._bells[ticket] = Bell()
        try:
            yield bell
        finally:
            del self._bells[ticket]

    def offer(self, ticket: str) -> bool:
        """A slot may be waiting for this ticket. Says whether anybody here waits for it."""
        bell = self._bells.get(ticket)
        if bell is None:
            return False
        bell.offered = True
        bell.rung.set()
        return True

    def ring_all(self) -> None:
        """The fleet has changed: everybody looks again."""
        for bell in self._bells.values():
            bell.rung.set()

    def __len__(self) -> int:
        return len(self._bells)
