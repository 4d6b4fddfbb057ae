"""Asks every worker how it is: who takes work, and which abandoned work is proved over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from providers.contract import Health, Provider
from router.policy.health import Standing, after
from router.store.clock import StoreClock
from router.store.link import StoreDown
from router.store.roster import Roster, WorkerRecord
from router.telemetry.events import GhostsEnded, Record, WorkerMoved

MARGIN_S = 0.5
"""An answer proves nothing about work abandoned less than this before it was asked for: the abandoned request
may still have been on its way into the server."""
HAUNTED_S = 0.25
"""A worker with abandoned work is asked this often: its slot is waiting for the proof."""


@dataclass(frozen=True, slots=True)
class Probing:
    """What probing needs. `haunted` says whether a worker has ghosts, as far as this replica knows."""

    roster: Roster
    clock: StoreClock
    provider: Callable[[str, str], Provider]
    haunted: Callable[[str, str], bool]
    record: Record
    every_s: float


async def probe_all(probing: Probing, workers: Sequence[WorkerRecord]) -> None:
    """Probes all workers forever, each at its own pace."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(probe_forever(probing, worker))


async def probe_forever(probing: Probing, worker: WorkerRecord) -> None:
    """Probes one worker forever."""
    standing = Standing()
    provider = probing.provider(worker.pool, worker.url)
    while True:
        asked = probing.clock.now()
        health = await provider.health(probing.every_s)
        standing = await _noted(probing, worker, standing, health, asked, provider.capabilities.reports_idle)
        pause = (
            min(HAUNTED_S, probing.every_s) if probing.haunted(worker.pool, worker.id) else probing.every_s
        )
        await asyncio.sleep(max(0.05, pause - (probing.clock.now() - asked)))


async def _noted(
    probing: Probing,
    worker: WorkerRecord,
    before: Standing,
    health: Health,
    asked: float,
    reports_idle: bool,
) -> Standing:
    standing = after(before, health)
    proof = asked - MARGIN_S if health.idle else None
    try:
        ended = await probing.roster.seen(
            worker.pool,
            worker.id,
            up=standing.up,
            idle_since=proof,
            boot=health.boot,
            reports_idle=reports_idle,
            url=worker.url,
        )
    except StoreDown:
        return before  # nobody was told, so it has not happened
    if standing.up is not before.up:
        probing.record(WorkerMoved(worker.pool, worker.id, bool(standing.up)))
    if ended:
        probing.record(GhostsEnded(worker.pool, worker.id, ended))
    return standing
