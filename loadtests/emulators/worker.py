"""One emulated GPU worker: what it is, the boot it lives in, and how it makes pictures. It knows no routes.

A boot (`Life`) holds everything a process loses when it dies: its queue, its adapters, its identity. The
slot is held for the service time even if nobody waits for the result, which is what makes an abandoned
request cost capacity.
"""

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from loadtests.emulators.attempts import Attempt
from loadtests.emulators.chores import Chores
from loadtests.emulators.faults import FaultBoard, Params
from loadtests.emulators.fifo import Fifo, Ticket
from loadtests.emulators.image_orders import ImageOrder
from loadtests.emulators.ledger import Ledger
from loadtests.emulators.pictures import encoded, picture, prompt_mark
from loadtests.emulators.refusals import Refused, detail
from loadtests.emulators.serving import Host
from loadtests.emulators.speed import Speed
from loadtests.emulators.worker_faults import ARRIVAL, PICTURES, SERVICE, STAGES, Service


@dataclass(frozen=True)
class WorkerSettings:
    name: str = "worker-0"
    model: str = "black-forest-labs/FLUX.1-dev"
    slots: int = 1
    speed: Speed = field(default_factory=Speed)
    default_steps: int = 28
    warm_up_s: float = 0.0


@dataclass(frozen=True)
class Generation:
    """One accepted request as the ledger names it."""

    id: str
    order: ImageOrder
    attempt: Attempt

    def named(self) -> dict[str, Any]:
        attempt = self.attempt
        return {"generation": self.id, "attempt": attempt.raw, "job": attempt.job, "fence": attempt.fence}


@dataclass(frozen=True)
class Made:
    pictures: tuple[bytes, ...]
    seconds: float


@dataclass(frozen=True)
class Failed:
    reason: str


Outcome = Made | Failed


class Life:
    """One boot of the server process."""

    def __init__(self, slots: int, chores: Chores) -> None:
        self.boot_id = uuid.uuid4().hex
        self.queue: Fifo[Outcome | None] = Fifo(slots, chores)
        self.loras: dict[str, dict[str, Any]] = {}
        self.broken: str | None = None
        self._warm = asyncio.Event()
        self._warm_ups = 0

    @property
    def warm(self) -> bool:
        return self._warm.is_set()

    async def until_warm(self) -> None:
        await self._warm.wait()

    async def warm_up(self, seconds: float) -> None:
        """Be cold for so long. A later warm-up extends an earlier one."""
        self._warm_ups += 1
        mine = self._warm_ups
        self._warm.clear()
        await asyncio.sleep(seconds)
        if mine == self._warm_ups:
            self._warm.set()

    def end(self) -> None:
        """Forget all work; requests that are held come out and find nothing to wait for."""
        self.queue.forget()
        self._warm.set()


class Worker:
    """The machine behind one address."""

    def __init__(self, settings: WorkerSettings, host: Host, ledger: Ledger, chores: Chores) -> None:
        self.settings = settings
        self.host = host
        self.ledger = ledger
        self._chores = chores
        self._clock = settings.speed.clock(settings.name)
        self.faults = FaultBoard(
            STAGES,
            {"die": self._die_as_told, "warming": self._warm_as_told, "backend_failed": self._break_as_told},
        )
        self.life = self._boot()

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def url(self) -> str:
        return self.host.url

    def receive(self, order: ImageOrder, attempt: Attempt) -> Generation:
        """Write a request down; raises `Refused` if a fault turns it away."""
        generation = Generation(uuid.uuid4().hex, order, attempt)
        self.note("received", generation, prompt=prompt_mark(order.prompt), count=order.count,
                  width=order.width, height=order.height, steps=order.steps)  # fmt: skip
        refusal = self.faults.apply(ARRIVAL, order.prompt, None)
        if refusal is not None:
            raise self.refuse(generation, refusal)
        return generation

    def refuse(self, generation: Generation, refusal: Refused) -> Refused:
        self.note("refused", generation, status=refusal.status)
        return refusal

    async def enqueue(self, generation: Generation) -> Ticket[Outcome | None]:
        """Stand in the queue of this boot. During warm-up real servers hold requests, they do not refuse."""
        life = self.life
        await life.until_warm()
        if life.broken:
            raise self.refuse(generation, detail(503, f"Backend failed: {life.broken}"))
        return life.queue.put(partial(self._make, generation, life))

    def cancel(self, generation: Generation, ticket: Ticket[Outcome | None]) -> None:
        """End a generation early, as vLLM-Omni does for a client that left."""
        if not ticket.outcome.done():
            self.note("cancelled", generation)
            self.life.queue.cancel(ticket)

    def note(self, kind: str, generation: Generation, **fields: Any) -> None:
        self.ledger.add(kind, self.name, **generation.named(), **fields)

    async def die(self, restart_after_s: float | None = None, warm_up_s: float = 0.0) -> None:
        """Close the listener, reset every connection and forget all work; optionally boot again later.

        A dead worker stays as it is.
        """
        if not self.host.is_open:
            return
        self.host.cut()
        queue = self.life.queue
        self.ledger.add(
            "died", self.name, running=queue.running, waiting=queue.waiting, boot=self.life.boot_id
        )
        self.life.end()
        if restart_after_s is not None:
            self._chores.start(self._restart_later(restart_after_s, warm_up_s))

    async def restart(self, warm_up_s: float = 0.0) -> None:
        """A fresh process at the same address: new boot, empty queue, no adapters.

        A living worker stays as it is.
        """
        if self.host.is_open:
            return
        self.life = self._boot(warm_up_s)
        await self.host.reopen()
        self.ledger.add("restarted", self.name, boot=self.life.boot_id)

    def state(self) -> dict[str, Any]:
        queue = self.life.queue
        return {
            "name": self.name,
            "boot_id": self.life.boot_id,
            "warm": self.life.warm,
            "broken": self.life.broken,
            "slots": self.settings.slots,
            "running": queue.running,
            "waiting": queue.waiting,
            "loras": self.life.loras,
            "faults": self.faults.shown(),
        }

    def _boot(self, warm_up_s: float = 0.0) -> Life:
        life = Life(self.settings.slots, self._chores)
        self._chores.start(life.warm_up(warm_up_s or self.settings.warm_up_s))
        return life

    async def _restart_later(self, after_s: float, warm_up_s: float) -> None:
        await asyncio.sleep(after_s)
        await self.restart(warm_up_s)

    async def _die_as_told(self, fault: Params) -> None:
        await self.die(fault.get("restart_after_s"), fault.get("warm_up_s", 0.0))

    async def _warm_as_told(self, fault: Params) -> None:
        self._chores.start(self.life.warm_up(fault.get("seconds", 1.0)))

    async def _break_as_told(self, fault: Params) -> None:
        self.life.broken = fault.get("error", "scheduler process exited")

    async def _make(self, generation: Generation, life: Life) -> Outcome:
        """Hold the slot for the service time; draw meanwhile, off the event loop."""
        self.note("started", generation, running=life.queue.running)
        order, began = generation.order, time.monotonic()
        reset = self.faults.replacement
        service = self.faults.apply(SERVICE, order.prompt, Service())
        seconds = service.slowness * self._clock.seconds(
            steps=order.steps, width=order.width, height=order.height, count=order.count
        )
        if service.dies is not None:
            await asyncio.sleep(seconds / 2)
            self._chores.start(self._die_as_told(service.dies))
            await asyncio.Event().wait()
        drawn = await asyncio.to_thread(draw, generation)
        await asyncio.sleep(max(began + seconds - time.monotonic(), 0))
        if service.hangs:
            await reset.wait()
            service = Service(failure="generation hung")
        return self._end(generation, service.failure, drawn, time.monotonic() - began)

    def _end(
        self, generation: Generation, failure: str | None, drawn: tuple[bytes, ...], seconds: float
    ) -> Outcome:
        if failure is not None:
            self.note("failed", generation, reason=failure, seconds=seconds)
            return Failed(failure)
        spoiled = self.faults.apply(PICTURES, generation.order.prompt, drawn)
        self.note("finished", generation, seconds=seconds, images=len(spoiled))
        return Made(spoiled, seconds)


def draw(generation: Generation) -> tuple[bytes, ...]:
    order, job = generation.order, generation.attempt.job or ""
    return tuple(
        encoded(picture(order.prompt, seed, order.width, order.height, index, job), order.output_format)
        for index, seed in enumerate(order.seeds)
    )
