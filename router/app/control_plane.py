"""The control loops as one thing that the leader runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from router.fleet.claims import Claims
from router.fleet.flags import Flags
from router.fleet.probing import Probing, probe_all
from router.fleet.rostering import keep_roster
from router.fleet.steering import Steering
from router.serving.backends import Backends
from router.serving.lookout import Lookout
from router.store.clock import StoreClock
from router.store.control import Control
from router.store.roster import Roster, WorkerRecord
from router.telemetry.events import Record


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """What the loops need. They see the fleet by the picture that this replica's lookout takes anyway."""

    claims: Claims
    flags: Flags
    control: Control
    roster: Roster
    lookout: Lookout
    backends: Backends
    clock: StoreClock
    record: Record
    workers: tuple[WorkerRecord, ...]
    probe_s: float
    leading: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, replica: str) -> None:
        """All loops, until cancelled; `leading` is set meanwhile."""
        self.leading.set()
        try:
            await self._run(replica)
        finally:
            self.leading.clear()

    async def _run(self, replica: str) -> None:
        probing = Probing(
            self.roster, self.clock, self.backends.worker, self._haunted, self.record, self.probe_s
        )
        steering = Steering(
            self.claims, self.flags, self.control, self._blocks, time.monotonic, f"leader:{replica}"
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_roster(self.roster, self.lookout.pools, self.workers))
            group.create_task(probe_all(probing, self.workers))
            group.create_task(steering.steer_forever())

    def _haunted(self, pool: str, worker: str) -> bool:
        picture = self.lookout.pictures.get(pool)
        return picture is not None and any(
            lease.worker == worker and lease.state == "ghost" for lease in picture.leases
        )

    def _blocks(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        return {pool: picture.blocks for pool, picture in self.lookout.pictures.items()}
