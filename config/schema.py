"""The shape of a deployment. Frozen and strict: an unknown key is an error, a wrong type is an error.

Durations end in `_s` (seconds), money in `_usd` (decimal dollars, read as text or number, kept as integer
micro-USD by the router), sizes are pixels. A dialect's own settings stay raw here (`settings`): the dialect
validates them, so that config knows no provider.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
Size = Annotated[str, Field(pattern=r"^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$")]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Period = Annotated[float, Field(gt=0, le=86_400)]
Dollars = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=6)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s?#]+$")]


class Strict(BaseModel):
    """A frozen block without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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


class Profile(Strict):
    """Seconds on-prem: `fixed_s + per_step_mp_s * steps * MP * n + per_mp_s * MP * n`."""

    fixed_s: Seconds = 0.2
    """Time that does not depend on the request: text encoding, HTTP."""
    per_step_mp_s: Annotated[float, Field(gt=0, le=600)]
    """Time of one denoising step for one million pixels."""
    per_mp_s: Seconds = 0.0
    """Time once an image for each million pixels: decoding, encoding to PNG."""
    spread: Annotated[float, Field(ge=0, le=3)] = 0.1
    """Relative standard deviation of the real time around the predicted one."""
    setup_s: Seconds = 0.0
    """Extra time when a worker must load this model or a LoRA first."""


class Model(Strict):
    """One model that clients can ask for."""

    home: Name
    """The on-prem pool whose queue its requests wait in."""
    also: tuple[Name, ...] = ()
    """Other on-prem pools that serve it; tried without waiting."""
    aliases: tuple[Name, ...] = ()
    """Other names clients may use for it."""
    size: Size = "1024x1024"
    """The size of a request that names none, or `auto`."""
    steps: Annotated[int, Field(ge=1, le=1000)] = 28
    """Denoising steps of a request that names none."""
    max_steps: Annotated[int, Field(ge=1, le=1000)] = 100
    """The most steps a request may ask for."""
    max_pixels: Annotated[int, Field(ge=4096)] = 4_194_304
    """The largest image a request may ask for, width times height."""
    multiple_of: Annotated[int, Field(ge=1, le=256)] = 16
    """Width and height must be multiples of this."""
    quality: dict[Literal["low", "medium", "high", "xhigh", "max", "standard", "hd", "auto"], int] = {}
    """OpenAI's `quality`, as numbers of steps; a value not named here is ignored and said so."""
    profile: Profile
    """How long it takes; the policy predicts queues with it."""
    loras: dict[Name, str] = {}
    """LoRA adapters clients may name, and what the back end knows them by."""


class Worker(Strict):
    """An on-prem server process on a node."""

    id: Name
    """Unique over all pools."""
    node: Name
    """The machine it runs on; one of `nodes`."""
    url: Url
    """Where the server listens, without the dialect's own path."""
    slots: Annotated[int, Field(ge=1, le=1024)] = 1
    """Generations it runs at once; 1 for servers that compute one after the other."""
    loras: tuple[Name, ...] = ()
    """LoRAs pinned to this worker, for servers whose LoRAs are server-global."""


class OnPremPool(Strict):
    """Workers in the house: they have slots, and training can claim their nodes."""

    place: Literal["onprem"]
    """In the house."""
    dialect: Name
    """How its servers are spoken to, such as `openai_images` or `comfyui`."""
    settings: Annotated[dict[str, Any], Field(repr=False)] = {}
    """The dialect's own settings; the dialect checks them."""
    models: Annotated[dict[Name, str], Field(min_length=1)]
    """Models served here, and the name each server knows them by."""
    workers: tuple[Worker, ...] = ()
    """Its servers; each serves every model of the pool."""


class Price(Strict):
    """What a provider asks; the worst case is held before a request is sent. No price: not eligible."""

    per_image_usd: Dollars = Decimal(0)
    """Dollars for each image, whatever its size."""
    per_megapixel_usd: Dollars = Decimal(0)
    """Dollars for each million pixels of each image."""
    valid_from: date
    """The first UTC day of this price; the latest one that has begun holds."""

    @model_validator(mode="after")
    def _something(self) -> Price:
        if not self.per_image_usd and not self.per_megapixel_usd:
            raise ValueError("needs per_image_usd or per_megapixel_usd above zero")
        return self


class Offer(Strict):
    """One model at one provider."""

    target: Annotated[str, Field(pattern=r"^[^\s?#]+$")]
    """What the provider calls the model."""
    prices: Annotated[tuple[Price, ...], Field(min_length=1)]
    """Past, present and announced prices."""
    latency_s: Annotated[float, Field(gt=0, le=3600)] = 6.0
    """Usual time from submit to image, for the first megapixel at the model's own number of steps."""
    latency_spread: Annotated[float, Field(ge=0, le=3)] = 0.3
    """Relative standard deviation of the real time around `latency_s`."""
    loras: dict[Name, str] = {}
    """What the provider knows each LoRA by; a request with one not named here does not fit."""


class ExternalPool(Strict):
    """A provider account: it costs money per image, and prompts leave the house."""

    place: Literal["external"]
    """Out of the house."""
    dialect: Name
    """How the provider is spoken to, such as `fal`."""
    url: Url
    """The provider's address, without the dialect's own path."""
    credential: SecretStr
    """The account's key; write `${file:/run/secrets/...}` or `${VAR}`, never the key itself."""
    settings: Annotated[dict[str, Any], Field(repr=False)] = {}
    """The dialect's own settings; the dialect checks them."""
    models: Annotated[dict[Name, Offer], Field(min_length=1)]
    """Models this account may be asked for, and what they cost."""
    concurrency: Annotated[int, Field(ge=1, le=100_000)] = 10
    """The most requests this account runs at once, over all replicas."""
    daily_budget_usd: Dollars
    """Held plus spent money of one UTC day never exceeds this."""
    region: str = ""
    """Where prompts are processed, as the provider says; shown to operators."""


Pool = Annotated[OnPremPool | ExternalPool, Field(discriminator="place")]


class Node(Strict):
    """A machine. Training claims nodes, not workers."""

    rack: str = ""
    """The rack it stands in; claims prefer whole racks."""
    nvlink_domain: str = ""
    """Machines of one domain share a fast fabric; claims prefer whole domains."""
    gpus: Annotated[int, Field(ge=0, le=1024)] = 8
    """GPUs in the machine."""


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
    classes: Annotated[dict[Name, RequestClass], Field(min_length=1)] = {
        "interactive": RequestClass(deadline_s=30),
        "standard": RequestClass(deadline_s=120),
        "batch": RequestClass(deadline_s=3600),
    }
    """Promises of latency that requests and tenants name."""
    tenants: Annotated[dict[Name, Tenant], Field(min_length=1)]
    """Who sends requests."""
    keys: tuple[Key, ...] = ()
    """API keys; without one nobody can call."""
    nodes: dict[Name, Node] = {}
    """The machines on-prem workers run on."""
    default_model: Name
    """The model of a request that names none; one of `models`."""
    models: Annotated[dict[Name, Model], Field(min_length=1)]
    """What clients can ask for."""
    pools: Annotated[dict[Name, Pool], Field(min_length=1)]
    """Where generations run: on-prem workers, and accounts at external providers."""
    overflow: tuple[Name, ...] = ()
    """External pools that may take the excess; the policy orders them by cost."""
