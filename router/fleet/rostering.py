"""Keeps the store's workers what their sources say: today the config's list, written by the leader."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from router.store.link import StoreDown
from router.store.roster import Roster, WorkerRecord

EVERY_S = 5.0


async def keep_roster(roster: Roster, pools: Sequence[str], workers: Sequence[WorkerRecord]) -> None:
    """Writes and removes workers forever; a worker no longer listed drains before it goes."""
    while True:
        with suppress(StoreDown):  # asked again below; nothing was decided by it
            await reconcile(roster, pools, workers)
        await asyncio.sleep(EVERY_S)


async def reconcile(roster: Roster, pools: Sequence[str], workers: Sequence[WorkerRecord]) -> None:
    """One pass."""
    for worker in workers:
        await roster.put(worker)
    for pool in pools:
        listed = {worker.id for worker in workers if worker.pool == pool}
        for stale in set(await roster.known(pool)) - listed:
            await roster.drop(pool, stale)
