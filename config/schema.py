"""The shape of a deployment. Frozen and strict: an unknown key is an error, a wrong type is an error.

The one door to all its blocks; what models and pools are is told in `config.capacity`. Whether names and
numbers agree with each other is checked after loading (`config.crosscheck`, `config.plausibility`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from config.capacity import (
    ExternalPool,
    Model,
    Node,
    Offer,
    OnPremPool,
    Pool,
    Price,
    Profile,
    Worker,
)
from config.fields import Dollars, Name, Period, Seconds, Size, Strict, Url

__all__ = [
    "Config",
    "Dollars",
    "ExternalPool",
    "Gateway",
    "Key",
    "Leases",
    "Limits",
    "Model",
    "Name",
    "Node",
    "Offer",
    "OnPremPool",
    "Period",
    "Pool",
    "Price",
    "Profile",
    "Redis",
    "RequestClass",
    "Seconds",
    "Size",
    "Strict",
    "Telemetry",
    "Tenant",
    "Url",
    "Worker",
]


class Redis(Strict):
    """Where the truth about capacity lives."""

    url: Annotated[str, Field(min_length=1, repr=False)] = "embedded"
    """`redis://host:port/db`, `rediss://...`, or `embedded`: a server of its own, never for production."""
    connect_timeout_s: Period = 0.25
    """How long one attempt to connect may take."""
    call_timeout_s: Period = 0.5
    """How long one call may take; later it counts as failed, never as allowed."""


class Gateway(Strict):
    """The HTTP server of one replica."""

    host: str = "127.0.0.1"
    """The address to listen on; `0.0.0.0` for all."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    """The TCP port to listen on; 0 takes any free one."""
    drain_grace_s: Seconds = 3.0
    """After SIGTERM readiness is red, and new requests are still accepted for this long."""
    drain_limit_s: Seconds = 60.0
    """After SIGTERM the process is gone by then; queued requests spill or are refused 5 s before."""


class Limits(Strict):
    """What a request may be. Checked before a slot, a lease or a cent is touched."""

    body_bytes: Annotated[int, Field(ge=1024)] = 1_048_576
    """The longest request body."""
    prompt_chars: Annotated[int, Field(ge=1)] = 20_000
    """The longest prompt, in characters."""
    count: Annotated[int, Field(ge=1, le=10)] = 10
    """The most images of one request (`n`)."""
    steps: Annotated[int, Field(ge=1, le=1000)] = 100
    """The most steps for any model; a model may allow fewer (`max_steps`)."""
    pixels: Annotated[int, Field(ge=4096)] = 4_194_304
    """The largest image for any model, width times height; a model may allow less (`max_pixels`)."""
    header_bytes: Annotated[int, Field(ge=1024)] = 32_768
    """The most header bytes of one request."""
    deadline_s: Annotated[float, Field(ge=1, le=86_400)] = 3_600.0
    """The longest deadline a request may ask for."""
    in_flight: Annotated[int, Field(ge=1)] = 4_096
    """Generation requests one replica holds at once; more are refused with 503 `overloaded`."""
    response_bytes: Annotated[int, Field(ge=1_048_576)] = 67_108_864
    """The most one back end may answer with."""


class Leases(Strict):
    """Timing of slots in the store; the defaults suit production, tests scale them down together."""

    lease_s: Period = 15.0
    """How long a slot stays with its attempt without a renewal."""
    renew_s: Period = 5.0
    """How often a running attempt renews its lease; less than half of `lease_s`."""
    offer_s: Period = 2.0
    """How long a free slot is offered to a waiter before it goes to the next one."""
    send_window_s: Period = 2.0
    """How long after the call that granted a slot the first request byte may still be written."""
    tend_s: Period = 0.5
    """How often a replica with waiters looks after its pools."""
    silent_s: Period = 3.0
    """After this long without a heartbeat a replica's waiters are passed over."""
    probe_s: Period = 2.0
    """How often the leader probes each worker."""
    leader_s: Period = 3.0
    """How long the leader stays leader without renewing."""


class RequestClass(Strict):
    """A promise of latency: the deadline of a request that names the class and no deadline of its own."""

    deadline_s: Annotated[float, Field(gt=0, le=86_400)]
    """Seconds from arrival until the answer must be out."""


class Key(Strict):
    """An API key: a public id and the SHA-256 of its secret (`spillover keys create` prints both)."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]{12}$")]
    """The public part: `spk_<id>_<secret>`. It may stand in logs."""
    secret_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", repr=False)]
    """SHA-256 of the secret part, in hex; the secret itself is kept nowhere."""
    tenant: Name
    """Whose requests these are; one of `tenants`."""
    scopes: Annotated[tuple[Literal["generate", "admin", "metrics"], ...], Field(min_length=1)] = (
        "generate",
    )
    """What the key opens: images and jobs, the operators' paths, or `/metrics`."""
    disabled: bool = False
    """Refused at once, and said so; rather than deleting a key that may be in use somewhere."""
    note: str = ""
    """Who has this key, and why; for people."""


class Tenant(Strict):
    """Who sends requests, and what may be done with them."""

    external: bool = True
    """May this tenant's prompts leave the house and cost money?"""
    allow_double_spend: bool = False
    """After a paid submit whose fate is unknown: may a second paid attempt be made?"""
    request_class: Name = "standard"
    """The class of requests that name none; one of `classes`."""


class Telemetry(Strict):
    """What is told. Where OTLP goes is said by the standard `OTEL_*` environment variables."""

    service_name: str = "spillover"
    """The `service.name` of metrics, traces and log lines."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe log line that is written."""
    sample_ratio: Annotated[float, Field(ge=0, le=1)] = 0.01
    """Share of requests traced when the caller sent no `traceparent`."""


class Config(Strict):
    """A whole deployment."""

    redis: Redis = Redis()
    """Where the truth about capacity lives."""
    gateway: Gateway = Gateway()
    """The HTTP server of one replica."""
    limits: Limits = Limits()
    """What a request may be."""
    leases: Leases = Leases()
    """Timing of slots in the store."""
    telemetry: Telemetry = Telemetry()
    """Logs, metrics and traces."""
    classes: dict[Name, RequestClass] = Field(
        default={
            "interactive": RequestClass(deadline_s=30),
            "standard": RequestClass(deadline_s=120),
            "batch": RequestClass(deadline_s=3600),
        },
        min_length=1,
    )
    """Promises of latency that requests and tenants name."""
    tenants: Annotated[dict[Name, Tenant], Field(min_length=1)]
    """Who sends requests."""
    keys: tuple[Key, ...] = ()
    """API keys; without one nobody can call."""
    nodes: dict[Name, Node] = Field(default={})
    """The machines on-prem workers run on."""
    default_model: Name
    """The model of a request that names none; one of `models`."""
    models: Annotated[dict[Name, Model], Field(min_length=1)]
    """What clients can ask for."""
    pools: Annotated[dict[Name, Pool], Field(min_length=1)]
    """Where generations run: on-prem workers, and accounts at external providers."""
    overflow: tuple[Name, ...] = ()
    """External pools that may take the excess; the policy orders them by cost."""
