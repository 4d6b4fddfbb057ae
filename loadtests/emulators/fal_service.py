"""A running fal emulator for tests and the demo: an address, a bill, and switches."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from loadtests.emulators.chores import Chores
from loadtests.emulators.fal import fal_app
from loadtests.emulators.fal_engine import FalEngine, FalSettings
from loadtests.emulators.fal_orders import App
from loadtests.emulators.faults import FaultBoard, Spec
from loadtests.emulators.ledger import Ledger
from loadtests.emulators.serving import Host
from loadtests.emulators.speed import Speed

DEFAULTS = FalSettings()


@dataclass(frozen=True)
class Fal:
    """A running fal emulator: where it listens, what it billed, and its switches."""

    host: Host
    engine: FalEngine

    @property
    def url(self) -> str:
        return self.host.url

    @property
    def ledger(self) -> Ledger:
        return self.engine.ledger

    @property
    def faults(self) -> FaultBoard:
        return self.engine.faults

    async def set_faults(self, *specs: Spec) -> None:
        """Replace all faults; no arguments clears them."""
        await self.engine.faults.set(*specs)

    def billed_units(self, job: str | None = None) -> float:
        return float(sum(row["units"] for row in self.ledger.rows("billed", job=job)))


@contextlib.asynccontextmanager
async def fal_queue(
    *,
    port: int = 0,
    apps: tuple[App, ...] = DEFAULTS.apps,
    concurrency: int = DEFAULTS.concurrency,
    speed: Speed = DEFAULTS.speed,
    keys: frozenset[str] | None = None,
    media_lifetime_s: float = DEFAULTS.media_lifetime_s,
    name: str = DEFAULTS.name,
    ledger_file: Path | None = None,
) -> AsyncIterator[Fal]:
    """A fal queue that listens while the block runs. `keys` None takes any key."""
    chores, host = Chores(), Host(port)
    with Ledger(ledger_file) as ledger:
        settings = FalSettings(name, apps, concurrency, speed, keys, media_lifetime_s)
        engine = FalEngine(settings, ledger, chores)
        await host.open(fal_app(engine, host))
        try:
            yield Fal(host, engine)
        finally:
            await host.close()
            engine.close()
            await chores.stop()
