"""Several emulated workers in one event loop, with one ledger: what tests and the demo start."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp

from loadtests.emulators.chores import Chores
from loadtests.emulators.faults import Spec
from loadtests.emulators.ledger import Ledger
from loadtests.emulators.serving import Host
from loadtests.emulators.sglang import sglang_app
from loadtests.emulators.speed import Speed
from loadtests.emulators.vllm_omni import vllm_omni_app
from loadtests.emulators.worker import Worker, WorkerSettings

VARIANTS: Mapping[str, Callable[[Worker], ASGIApp]] = {"sglang": sglang_app, "vllm_omni": vllm_omni_app}
DEFAULTS = WorkerSettings()


@dataclass(frozen=True)
class Fleet:
    """Running workers, in order, and the ledger they share."""

    workers: tuple[Worker, ...]
    ledger: Ledger

    @property
    def urls(self) -> list[str]:
        return [worker.url for worker in self.workers]

    async def set_faults(self, *specs: Spec) -> None:
        """Replace the faults of every worker; no arguments clears them."""
        await asyncio.gather(*(worker.faults.set(*specs) for worker in self.workers))


@contextlib.asynccontextmanager
async def sglang_workers(
    count: int = 1,
    *,
    slots: int = 1,
    model: str = DEFAULTS.model,
    variant: str = "sglang",
    speed: Speed = DEFAULTS.speed,
    default_steps: int = DEFAULTS.default_steps,
    warm_up_s: float = 0.0,
    base_port: int = 0,
    name: str = "worker",
    ledger_file: Path | None = None,
) -> AsyncIterator[Fleet]:
    """Workers that listen while the block runs. Ports count up from `base_port`, or are free ones."""
    chores = Chores()
    with Ledger(ledger_file) as ledger:
        workers = []
        for place in range(count):
            settings = WorkerSettings(f"{name}-{place}", model, slots, speed, default_steps, warm_up_s)
            workers.append(Worker(settings, Host(base_port and base_port + place), ledger, chores))
        try:
            for worker in workers:
                await worker.host.open(VARIANTS[variant](worker))
            yield Fleet(tuple(workers), ledger)
        finally:
            await asyncio.gather(*(worker.host.close() for worker in workers))
            for worker in workers:
                worker.life.end()
            await chores.stop()
