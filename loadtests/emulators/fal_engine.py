"""The queue and the runners behind the fal emulator, and the bill.

Rules (docs.fal.ai): work that ends well is billed whether or not anybody fetches it; a 5xx never is. Runners
that fail with 503 or 504 are retried up to ten times unless the caller forbids it. A start timeout ends a
request that has not begun in time with 504. Cancelling removes a queued request and signals a running one.
"""

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from loadtests.emulators.chores import Chores
from loadtests.emulators.fal_faults import (
    CANCELLING,
    DRAWN,
    RUN,
    STAGES,
    WAITING,
    Failure,
    Run,
    Wait,
    request_failure,
)
from loadtests.emulators.fal_media import Media, MediaFile
from loadtests.emulators.fal_orders import DEFAULT_APPS, App, FalOrder, InvalidInput, read_order
from loadtests.emulators.fal_requests import COMPLETED, QUEUED, RUNNING, FalRequest
from loadtests.emulators.faults import FaultBoard
from loadtests.emulators.fifo import Fifo, Ticket
from loadtests.emulators.ledger import Ledger
from loadtests.emulators.pictures import encoded, picture, prompt_mark
from loadtests.emulators.speed import Speed
from loadtests.emulators.spoiled import blackened

MOST_TRIES = 10
NOT_STARTED = request_failure(
    504, "request_timeout", "Request timed out before it was started", x_fal_request_timeout_type="user"
)
CANCELLED = request_failure(499, "client_cancelled", "Request was cancelled")


@dataclass(frozen=True)
class FalSettings:
    name: str = "fal"
    apps: tuple[App, ...] = DEFAULT_APPS
    concurrency: int = 4
    speed: Speed = field(default_factory=Speed)
    keys: frozenset[str] | None = None
    media_lifetime_s: float = 3600.0


class FalEngine:
    """Every request ever submitted, and the bounded set of runners that works them off."""

    def __init__(self, settings: FalSettings, ledger: Ledger, chores: Chores) -> None:
        self.settings = settings
        self.ledger = ledger
        self.media = Media()
        self.faults = FaultBoard(STAGES)
        self._chores = chores
        self._clock = settings.speed.clock(settings.name)
        self._runners: Fifo[None] = Fifo(settings.concurrency, chores)
        self._requests: dict[str, FalRequest] = {}
        self._queued: dict[str, FalRequest] = {}
        self._tickets: dict[str, Ticket[None]] = {}

    def app(self, app_id: str) -> App | None:
        return next((app for app in self.settings.apps if app.id == app_id), None)

    def find(self, short_id: str, request_id: str) -> FalRequest | None:
        request = self._requests.get(request_id)
        return request if request is not None and request.app.short_id == short_id else None

    def submit(self, request: FalRequest) -> None:
        self._requests[request.id] = self._queued[request.id] = request
        self._note("submitted", request, prompt=prompt_mark(request.prompt))
        self._chores.start(self._admit(request))
        if request.wishes.start_timeout_s is not None:
            self._chores.start(self._expire(request, request.wishes.start_timeout_s))

    def position(self, request: FalRequest) -> int:
        """How many queued requests stand before this one."""
        return list(self._queued).index(request.id) if request.id in self._queued else 0

    async def cancel(self, request: FalRequest) -> str:
        """What the cancel call answers: OK, CANCELLATION_REQUESTED or ALREADY_COMPLETED."""
        manner = self.faults.apply(CANCELLING, request.prompt, "obeyed")
        if manner == "too_late":
            await request.until(COMPLETED)
        if request.status == COMPLETED:
            return "ALREADY_COMPLETED"
        answer = "OK" if request.status == QUEUED else "CANCELLATION_REQUESTED"
        if manner == "obeyed":
            self._withdraw(request)
            self._note("cancelled", request, was=request.status)
            self._complete(request, CANCELLED)
        return answer

    def close(self) -> None:
        self._runners.forget()

    def state(self) -> dict[str, Any]:
        counts = dict.fromkeys((QUEUED, RUNNING, COMPLETED), 0)
        for request in self._requests.values():
            counts[request.status] += 1
        return {"name": self.settings.name, "apps": [app.id for app in self.settings.apps], **counts,
                "concurrency": self.settings.concurrency, "faults": self.faults.shown()}  # fmt: skip

    async def _admit(self, request: FalRequest) -> None:
        reset = self.faults.replacement
        wait = self.faults.apply(WAITING, request.prompt, Wait())
        await asyncio.sleep(wait.delay_s)
        if wait.stuck:
            await reset.wait()
        if request.status == QUEUED:
            self._tickets[request.id] = self._runners.put(partial(self._work, request))

    async def _expire(self, request: FalRequest, timeout_s: float) -> None:
        await asyncio.sleep(timeout_s)
        if request.status == QUEUED:
            self._withdraw(request)
            self._fail(request, NOT_STARTED)

    def _withdraw(self, request: FalRequest) -> None:
        ticket = self._tickets.pop(request.id, None)
        if ticket is not None:
            self._runners.cancel(ticket)

    async def _work(self, request: FalRequest) -> None:
        del self._queued[request.id]
        request.move(RUNNING)
        for tries in range(1, MOST_TRIES + 1):
            self._note("started", request, running=self._runners.running, tries=tries)
            failure = await self._run(request)
            if failure is None:
                return
            if failure.status not in {503, 504} or request.wishes.no_retry or tries == MOST_TRIES:
                self._fail(request, failure)
                return

    async def _run(self, request: FalRequest) -> Failure | None:
        """One try of one runner; completes the request if it went well."""
        reset = self.faults.replacement
        run, began = self.faults.apply(RUN, request.prompt, Run()), time.monotonic()
        try:
            order = read_order(request.app, request.input, fallback_seed=int(request.id[:8], 16))
        except InvalidInput as error:
            return Failure(422, {"detail": [error.entry]}, str(error), str(error.entry["type"]))
        request.log(f"generating {order.count} image(s) in {order.steps} steps", _now())
        seconds = run.slowness * self._clock.seconds(
            steps=order.steps, width=order.width, height=order.height, count=order.count
        )
        drawn = await asyncio.to_thread(
            _draw, order, run.flagged and order.checks_safety, request.attempt.job
        )
        await asyncio.sleep(max(began + seconds - time.monotonic(), 0))
        if run.stuck:
            await reset.wait()
        if run.failure is not None:
            return run.failure
        request.inference_s = time.monotonic() - began
        request.units = request.app.units(order)
        request.result = self._result(request, order, drawn, run.flagged)
        self._note("completed", request, seconds=request.inference_s)
        self._bill(request, request.units)
        self._complete(request, None)
        return None

    def _result(
        self, request: FalRequest, order: FalOrder, drawn: tuple[bytes, ...], flagged: bool
    ) -> dict[str, Any]:
        lifetime = request.wishes.media_lifetime_s or self.settings.media_lifetime_s
        pictures = self.faults.apply(DRAWN, request.prompt, drawn)
        files = [self.media.put(content, order.output_format, order.prompt, lifetime) for content in pictures]
        return {
            "images": [_image(request, order, file) for file in files],
            "timings": {"inference": request.inference_s},
            "seed": order.seed,
            "has_nsfw_concepts": [flagged] * len(files),
            "prompt": order.prompt,
        }

    def _fail(self, request: FalRequest, failure: Failure) -> None:
        self._note("failed", request, status=failure.status, error_type=failure.error_type)
        if failure.billed:
            self._bill(request, 1.0)
        self._complete(request, failure)

    def _complete(self, request: FalRequest, failure: Failure | None) -> None:
        self._queued.pop(request.id, None)
        self._tickets.pop(request.id, None)
        request.failure = failure
        request.move(COMPLETED)

    def _bill(self, request: FalRequest, units: float) -> None:
        self._note("billed", request, units=units, unit=request.app.unit)

    def _note(self, kind: str, request: FalRequest, **fields: Any) -> None:
        self.ledger.add(kind, self.settings.name, **request.named(), **fields)


def _draw(order: FalOrder, blacked_out: bool, job: str | None) -> tuple[bytes, ...]:
    pictures = (
        picture(order.prompt, order.seed + index, order.width, order.height, index, job or "")
        for index in range(order.count)
    )
    return tuple(encoded(blackened(png) if blacked_out else png, order.output_format) for png in pictures)


def _image(request: FalRequest, order: FalOrder, file: MediaFile) -> dict[str, Any]:
    return {
        "url": request.base_url + file.path,
        "content_type": file.content_type,
        "file_name": file.name,
        "file_size": len(file.content),
        "width": order.width,
        "height": order.height,
    }


def _now() -> float:
    return time.time()  # noqa: TID251 - log lines of the wire format carry wall time
