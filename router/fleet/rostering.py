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
    """One pass. What goes, goes first: a server is in the store once, or its slots would be given out twice.

    A worker of another name, pool or address is another record; while the old one of its server drains, the
    new one waits.
    """
    listed = {(worker.pool, worker.id): _server(worker.url) for worker in workers}
    draining = set()
    for pool in pools:
        for name, url in (await roster.known(pool)).items():
            stale = listed.get((pool, name)) != _server(url)
            if stale and await roster.drop(pool, name) == "draining":
                draining.add(_server(url))
    for worker in workers:
        if _server(worker.url) not in draining:
            await roster.put(worker)


def _server(url: str) -> str:
    return url.rstrip("/").lower()
