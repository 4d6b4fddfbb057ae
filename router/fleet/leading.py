"""One replica leads: it alone runs the control loops, for as long as it keeps the lease."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from router.store.control import Control
from router.store.link import StoreDown
from router.telemetry.events import LeadershipMoved, Record


async def lead_forever(
    control: Control, replica: str, lease_s: float, loops: Callable[[], Awaitable[None]], record: Record
) -> None:
    """Takes the leader's lease whenever it is free, and runs `loops` while it is kept.

    The loops are idempotent: two leaders for a moment do double work, and no harm.
    """
    while True:
        if await _holds(control, replica, lease_s):
            record(LeadershipMoved(True))
            await _while_kept(control, replica, lease_s, loops)
            record(LeadershipMoved(False))
        await asyncio.sleep(lease_s / 3)


async def _while_kept(
    control: Control, replica: str, lease_s: float, loops: Callable[[], Awaitable[None]]
) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(_run(loops))
        while not running.done():
            await asyncio.sleep(lease_s / 3)
            if not await _holds(control, replica, lease_s):
                running.cancel()
                return


async def _run(loops: Callable[[], Awaitable[None]]) -> None:
    await loops()


async def _holds(control: Control, replica: str, lease_s: float) -> bool:
    try:
        return await control.lead(replica, lease_s)
    except StoreDown:
        return False
