"""The JSON of the fal queue: what is submitted, what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from providers.contract import Call
from providers.fal.settings import Settings
from providers.http import Reply

T = TypeVar("T")


class Ticket(msgspec.Struct, frozen=True):
    """The reply to a submit: where to ask. Its URLs are followed as given: they drop the app's sub-path."""

    request_id: str
    status_url: str
    response_url: str
    cancel_url: str

    def handle(self) -> dict[str, str]:
        """The JSON-safe form kept by the router."""
        return msgspec.structs.asdict(self)


class Metrics(msgspec.Struct, frozen=True):
    """How long the model ran, in seconds."""

    inference_time: float | None = None


class Status(msgspec.Struct, frozen=True):
    """`IN_QUEUE`, `IN_PROGRESS` or `COMPLETED`; a failure is COMPLETED with `error`."""

    status: str
    queue_position: int | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")
    error_type: str | None = None
    metrics: Metrics | None = None

    @property
    def failed(self) -> bool:
        """The model or the queue said that the work failed."""
        return bytes(self.error) not in (b"null", b'""') or self.error_type is not None

    def complaint(self) -> Reply:
        """What the status says about the failure, in the form of a reply without a status code."""
        return Reply(0, {}, msgspec.json.encode({"error": self.error, "error_type": self.error_type}))


class Picture(msgspec.Struct, frozen=True):
    """One image of a result."""

    url: str


class Result(msgspec.Struct, frozen=True):
    """The model's output."""

    images: list[Picture] | None = None
    seed: int | None = None
    has_nsfw_concepts: list[bool] | None = None

    @property
    def is_refused(self) -> bool:
        """The output checker blacked an image out; fal reports that as a success."""
        return any(self.has_nsfw_concepts or ())


class _CancelAnswer(msgspec.Struct, frozen=True):
    status: str


def ticket(handle: Mapping[str, str]) -> Ticket | None:
    """The ticket behind a handle, or `None` if it is not one."""
    try:
        return msgspec.convert(dict(handle), Ticket)
    except msgspec.ValidationError:
        return None


def read_ticket(reply: Reply) -> Ticket | None:
    """The ticket in the reply to a submit."""
    return _read(reply, Ticket)


def read_status(reply: Reply) -> Status | None:
    """The status of a request."""
    return _read(reply, Status)


def read_result(reply: Reply) -> Result | None:
    """The result of a request."""
    return _read(reply, Result)


def read_cancel(reply: Reply) -> str | None:
    """The word with which fal answers a cancel."""
    answer = _read(reply, _CancelAnswer)
    return None if answer is None else answer.status


def submit_body(call: Call, settings: Settings) -> bytes:
    """The model's own input, without an envelope."""
    generation = call.generation
    optional = {
        "guidance_scale": generation.guidance_scale,
        "negative_prompt": generation.negative_prompt,
        "seed": generation.seed,
        "loras": [{"path": call.loras[lora.name], "scale": lora.weight} for lora in generation.loras] or None,
    }
    fixed: dict[str, object] = {
        "prompt": generation.prompt,
        "image_size": {"width": generation.width, "height": generation.height},
        "num_inference_steps": generation.steps,
        "num_images": generation.count,
        "output_format": generation.output_format,
        "enable_safety_checker": settings.safety_checker,
        "sync_mode": False,
    }
    return msgspec.json.encode(fixed | {name: value for name, value in optional.items() if value is not None})


def submit_headers(call: Call, settings: Settings) -> dict[str, str]:
    """`X-Fal-Request-Timeout` bounds the time until processing starts: float text above 1 (fal-client)."""
    headers = {
        "Content-Type": "application/json",
        "X-Fal-Request-Timeout": f"{max(call.budget_s - settings.run_s, 1.1):.3f}",
        "x-fal-no-retry": "1",  # the one retry layer is the router's
        "Spillover-Attempt": f"{call.attempt};fence={call.fence}",
    }
    return headers if call.traceparent is None else headers | {"traceparent": call.traceparent}


def _read(reply: Reply, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(reply.body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
