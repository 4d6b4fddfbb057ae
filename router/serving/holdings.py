"""The leases this replica holds: renewed in time, and cut when a claim's grace is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

from router.store.capacity import Capacity, ClosingNode, Lease
from router.store.link import StoreDown


class Held:
    """One lease in use. `cut` is set when its node's grace is over: its work has to move."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.cut = asyncio.Event()


class Holdings:
    """All leases of one replica."""

    def __init__(self, capacity: Capacity, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._capacity = capacity
        self._sleep = sleep
        self._held: dict[str, Held] = {}

    @contextmanager
    def holding(self, lease: Lease) -> Iterator[Held]:
        """Renews the lease for the length of a scope. Releasing it is the scope's own duty."""
        held = self._held[lease.id] = Held(lease)
        try:
            yield held
        finally:
            del self._held[lease.id]

    def cut_closed(self, pool: str, closing: Mapping[str, ClosingNode], now: float) -> float | None:
        """Cuts what runs past its node's grace. Returns the next moment at which something has to be cut."""
        coming = []
        for held in self._held.values():
            node = closing.get(held.lease.node) if held.lease.pool == pool else None
            if node is None or held.cut.is_set():
                continue
            if now >= node.cut_at:
                held.cut.set()
            else:
                coming.append(node.cut_at)
        return min(coming, default=None)

    async def renew_forever(self, every_s: float) -> None:
        """A store that is away is no reason to stop: work that runs goes on, and is asked for again."""
        while True:
            await self._sleep(every_s)
            for pool in {held.lease.pool for held in self._held.values()}:
                ids = [held.lease.id for held in self._held.values() if held.lease.pool == pool]
                try:
                    await self._capacity.renew(pool, ids)
                except StoreDown:
                    continue

    def __len__(self) -> int:
        return len(self._held)
