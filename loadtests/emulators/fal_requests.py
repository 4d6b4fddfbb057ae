"""One request in the fal queue: what was asked, where it stands, and what its three URLs answer.

Source: docs.fal.ai (queue, request errors) and fal-client 1.0.3, whose parser needs `queue_position` while
queued and `logs` afterwards. There is no failed status: a failure is COMPLETED with `error`, and the result
answers with it.
"""

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from loadtests.emulators.attempts import Attempt
from loadtests.emulators.fal_faults import Failure
from loadtests.emulators.fal_orders import App, Input, prompt_of

QUEUED, RUNNING, COMPLETED = "IN_QUEUE", "IN_PROGRESS", "COMPLETED"
LogLine = dict[str, str]


@dataclass(frozen=True)
class Wishes:
    """The headers of a submit that change what happens to it."""

    start_timeout_s: float | None = None
    no_retry: bool = False
    media_lifetime_s: float | None = None


@dataclass(eq=False)
class FalRequest:
    app: App
    input: Input
    attempt: Attempt
    wishes: Wishes
    base_url: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    status: str = QUEUED
    failure: Failure | None = None
    result: dict[str, Any] | None = None
    units: float = 0.0
    inference_s: float | None = None
    logs: list[LogLine] = field(default_factory=list)
    submitted: float = field(default_factory=time.monotonic)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def prompt(self) -> str:
        return prompt_of(self.input)

    @property
    def url(self) -> str:
        return f"{self.base_url}/{self.app.short_id}/requests/{self.id}"

    def move(self, status: str) -> None:
        self.status = status
        self._changed.set()
        self._changed = asyncio.Event()

    async def change(self) -> None:
        """Return at the next change of status."""
        await self._changed.wait()

    async def until(self, status: str) -> None:
        while self.status != status:
            await self.change()

    def log(self, message: str, at: float) -> None:
        stamp = datetime.fromtimestamp(at, tz=UTC).isoformat()
        self.logs.append({"message": message, "level": "INFO", "source": "USER", "timestamp": stamp})

    def named(self) -> dict[str, Any]:
        """How ledger rows name it; `generation` as in the rows of workers."""
        return {
            "generation": self.id,
            "request_id": self.id,
            "app": self.app.id,
            "attempt": self.attempt.raw,
            "job": self.attempt.job,
            "fence": self.attempt.fence,
        }

    def receipt(self, position: int) -> dict[str, Any]:
        """The reply to the submit. The URLs keep only owner and alias of the app."""
        return {
            "status": QUEUED,
            "request_id": self.id,
            "response_url": self.url,
            "status_url": f"{self.url}/status",
            "cancel_url": f"{self.url}/cancel",
            "queue_position": position,
        }

    def shown(self, position: int, with_logs: bool) -> dict[str, Any]:
        """The status object of this moment."""
        urls = {"request_id": self.id, "response_url": self.url, "status_url": f"{self.url}/status",
                "cancel_url": f"{self.url}/cancel"}  # fmt: skip
        if self.status == QUEUED:
            return {"status": QUEUED, **urls, "queue_position": position}
        logs = self.logs if with_logs else None
        if self.status == RUNNING:
            return {"status": RUNNING, **urls, "logs": logs}
        metrics = {} if self.inference_s is None else {"inference_time": self.inference_s}
        done = {"status": COMPLETED, **urls, "logs": logs, "metrics": metrics}
        if self.failure is not None:
            done |= {"error": self.failure.error, "error_type": self.failure.error_type}
        return done
