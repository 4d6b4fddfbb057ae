"""The loops of one replica: its eyes, its renewals, its share of the control plane."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from config.schema import Config
from router.app.assembly import Assembly
from router.app.gauging import gauge_forever
from router.fleet.leading import lead_forever
from router.telemetry.otel import Telemetry


@asynccontextmanager
async def looping(parts: Assembly, config: Config, name: str, telemetry: Telemetry) -> AsyncIterator[None]:
    """The replica's own loops. One that fails ends the replica: supervision starts it anew."""
    lookout, leases = parts.lookout, config.leases
    async with asyncio.TaskGroup() as group:
        loops = [group.create_task(lookout.watch_pool(pool)) for pool in lookout.pools]
        loops.append(group.create_task(lookout.watch_money()))
        loops.append(group.create_task(lookout.listen()))
        loops.append(group.create_task(parts.holdings.renew_forever(leases.renew_s)))
        loops.append(group.create_task(gauge_forever(parts, telemetry)))
        lead = lead_forever(
            parts.control, name, leases.leader_s, lambda: parts.plane.run(name), telemetry.record
        )
        loops.append(group.create_task(lead))
        yield
        for loop in loops:
            loop.cancel()
