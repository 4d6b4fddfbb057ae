"""The words between the router and a back end. A third party who writes an adapter imports this one file.

Durations are seconds, sizes are pixels, moments are local monotonic seconds. Outcomes are values: a dialect
never raises for anything a server or a network can do; an exception out of a dialect is a bug.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Lora:
    """One LoRA adapter by its configured name, applied with `weight` (1.0 is full strength)."""

    name: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Generation:
    """What a client wants made. Valid by construction; knows no HTTP, no provider, no tenant.

    `model` is the deployment's name of the model; a dialect maps it to the server's own (`Call.target`).
    `extras` are model parameters without a field here, passed through where the dialect can.
    """

    model: str
    prompt: str = field(repr=False)
    width: int
    height: int
    steps: int
    count: int = 1
    seed: int | None = None
    guidance_scale: float | None = None
    negative_prompt: str | None = field(default=None, repr=False)
    loras: tuple[Lora, ...] = ()
    output_format: str = "png"

    @property
    def megapixels(self) -> float:
        """Pixels of one image in millions (1024 x 1024 is 1.048576)."""
        return self.width * self.height / 1_000_000

    def only(self, missing: tuple[int, ...]) -> Generation:
        """The generation that makes just the images at the indices `missing`.

        A seeded request gives image `i` the seed `seed + i`, so contiguous leftovers keep their pictures.
        """
        if not missing or len(missing) == self.count:
            return self
        seed = None if self.seed is None else self.seed + missing[0]
        return replace(self, count=len(missing), seed=seed)


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt's request to one back end.

    `attempt` is opaque to the server and unique (`<job>.<n>`), sent as
    `Spillover-Attempt: <attempt>;fence=<fence>`. `budget_s` bounds the whole attempt, body included. The
    first request byte may be written only before `send_by` (local monotonic seconds); `None` means no fence.
    `traceparent` is W3C, or `None`. `loras` says what this server knows each LoRA of the generation by.
    """

    generation: Generation
    target: str
    attempt: str
    fence: int
    budget_s: float
    send_by: float | None = None
    traceparent: str | None = None
    loras: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    """One finished image as base64 text, checked at head and tail (magic, dimensions, trailer)."""

    b64: str = field(repr=False)
    media_type: str
    width: int
    height: int


class Fault(StrEnum):
    """What may be done after a failed attempt; each event of a back end is exactly one of these."""

    NOT_SENT = "not_sent"  # no request byte was written: anywhere else, at once
    REFUSED = "refused"  # 429, 503, busy: elsewhere; here only after `retry_after_s`
    BAD_CREDENTIAL = "bad_credential"  # 401, 402, 403: this account is out until somebody looks
    DETERMINISTIC = "deterministic"  # 400, 422, policy: the same everywhere, never retried
    FAILED_KNOWN = "failed_known"  # the server says the work failed; it has ended
    AMBIGUOUS = "ambiguous"  # may or may not have run, or may run still
    UNUSABLE = "unusable"  # answered, but with no image that passes its checks
    LOST_LEASE = "lost_lease"  # our claim on the slot ended first


class Ended(StrEnum):
    """What is known about the work on the server when the attempt is over."""

    YES = "yes"  # it never began, or its reply was read to the end: the slot is free
    UNKNOWN = "unknown"  # it may be computing still: the slot is not free


class Spent(StrEnum):
    """What is known about the money of an attempt."""

    NO = "no"
    YES = "yes"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The server has taken the work; `handle` finds it again (opaque, JSON-safe)."""

    handle: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Progress:
    """The work moves: `queued` while waiting at the server, then running."""

    queued: bool
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Produced:
    """Images were made. `images` may be fewer than asked for: the rest is tried again by the router.

    `units` is the billed quantity in the back end's own unit, `None` where it says nothing.
    """

    images: tuple[Image, ...]
    seed: int | None = None
    units: float | None = None
    server_s: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt without an image. `code` is a stable machine word; `detail` is for operators only
    (bounded, never a prompt, key or URL) and is not shown to clients."""

    fault: Fault
    code: str
    detail: str = ""
    ended: Ended = Ended.YES
    spent: Spent = Spent.NO
    retry_after_s: float | None = None


Outcome = Produced | Failed
Event = Accepted | Progress | Produced | Failed


class Cancelled(StrEnum):
    """The answer to a cancel."""

    CONFIRMED = "confirmed"  # it has ended and is free of charge
    SIGNALLED = "signalled"  # asked for; the work may still finish and be billed
    TOO_LATE = "too_late"  # it had finished already
    UNKNOWN = "unknown"  # no answer, or the server knows no such work
    UNSUPPORTED = "unsupported"  # this dialect cannot


@dataclass(frozen=True, slots=True)
class Health:
    """A worker's own word about itself.

    `ready`: it would take a request now. `reachable`: a TCP connection was made.
    `idle`: all work it had received before the probe was sent has ended (`None`: it cannot or did not say).
    `boot`: changes when the server restarts, where it can tell. `models`: what it serves, where it can tell.
    """

    reachable: bool
    ready: bool
    idle: bool | None = None
    boot: str | None = None
    models: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a dialect can honour. A parameter it cannot honour makes it ineligible; nothing is dropped."""

    max_count: int = 10
    loras: bool = False
    max_loras: int = 10
    negative_prompt: bool = False
    guidance_scale: bool = True
    seed: bool = True
    formats: frozenset[str] = frozenset({"png"})
    cancels_on_disconnect: bool = False
    reports_idle: bool = False

    def refuses(self, generation: Generation) -> str | None:
        """The first parameter of `generation` that this dialect cannot honour, or `None`."""
        wants = {
            "n": generation.count > self.max_count,
            "loras": len(generation.loras) > (self.max_loras if self.loras else 0),
            "negative_prompt": generation.negative_prompt is not None and not self.negative_prompt,
            "guidance_scale": generation.guidance_scale is not None and not self.guidance_scale,
            "seed": generation.seed is not None and not self.seed,
            "output_format": generation.output_format not in self.formats,
        }
        return next((name for name, refused in wants.items() if refused), None)


class Provider(Protocol):
    """One back end at one address, spoken to in one dialect.

    `start` yields `Accepted` (where there is one), then `Progress`, then exactly one `Produced` or `Failed`.
    Leaving the iterator early drops the connection; it does not cancel queued work (`cancel` does).
    """

    @property
    def capabilities(self) -> Capabilities: ...

    def start(self, call: Call) -> AsyncIterator[Event]: ...

    def resume(self, handle: Mapping[str, str], call: Call) -> AsyncIterator[Event]: ...

    async def cancel(self, handle: Mapping[str, str]) -> Cancelled: ...

    async def health(self, patience_s: float) -> Health: ...
