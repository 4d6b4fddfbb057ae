"""Tells the metrics how things stand, once a second, from the picture that the replica has anyway."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from router.app.assembly import Assembly
from router.model.claim import ENDED, Claim
from router.serving.desk import Desk
from router.serving.lookout import Lookout
from router.store.link import StoreDown
from router.store.picture import PoolPicture
from router.telemetry.events import LoopLagged
from router.telemetry.gauges import AccountNow, Gauges, PoolNow
from router.telemetry.otel import Telemetry

EVERY_S = 1.0
LAG_TOLD_S = 0.1


async def gauge_forever(parts: Assembly, telemetry: Telemetry) -> None:
    """Replaces the gauges forever, and tells when the event loop was late by over a tenth of a second."""
    claims: Sequence[Claim] = ()
    while True:
        with suppress(StoreDown):  # the last known ones stand; the age of the picture tells
            claims = await parts.control.claims()
        gauges = with_claims(gauges_of(parts.lookout, parts.desk), claims)
        telemetry.set_gauges(replace(gauges, leads=parts.plane.leading.is_set()))
        before = time.monotonic()
        await asyncio.sleep(EVERY_S)
        lag = time.monotonic() - before - EVERY_S
        if lag > LAG_TOLD_S:
            telemetry.record(LoopLagged(lag))


def gauges_of(lookout: Lookout, desk: Desk) -> Gauges:
    """The picture in the metrics' terms."""
    accounts = {
        name: AccountNow(
            view.in_flight,
            view.concurrency,
            view.committed,
            view.budget,
            view.cooling_until > lookout.snapshot.taken_at,
        )
        for name, view in lookout.snapshot.accounts.items()
    }
    pools = {name: _pool_now(picture) for name, picture in lookout.pictures.items()}
    flags = Counter(flag.kind for flag in lookout.flags)
    return Gauges(
        taken_at=lookout.looked_at, in_flight=len(desk), pools=pools, accounts=accounts, flags=flags
    )


def with_claims(gauges: Gauges, claims: Sequence[Claim]) -> Gauges:
    """The gauges with the claims that have not ended."""
    active = [claim for claim in claims if claim.phase not in ENDED]
    return replace(
        gauges,
        claims=Counter(str(claim.phase) for claim in active),
        claims_overdue=sum(claim.overdue for claim in active),
        claims_alarmed=sum(bool(claim.alarm) for claim in active),
    )


def _pool_now(picture: PoolPicture) -> PoolNow:
    states = Counter(lease.state for lease in picture.leases)
    workers = picture.view.workers
    return PoolNow(
        waiting=picture.view.waiting,
        free=sum(worker.free for worker in workers if worker.takes_work),
        leased=states["leased"],
        offered=states["offered"],
        ghosts=states["ghost"],
        closed=sum(worker.free for worker in workers if not worker.takes_work),
        workers_up=sum(worker.up for worker in workers),
        workers_down=sum(not worker.up for worker in workers),
    )
