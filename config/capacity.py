"""The blocks that say what is made where: models, machines, workers in the house, accounts at providers.

A dialect's own settings stay raw here (`settings`): the dialect checks them, and config knows no provider.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, model_validator

from config.fields import Dollars, Name, Seconds, Size, Strict, Url


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
    quality: dict[Literal["low", "medium", "high", "xhigh", "max", "standard", "hd", "auto"], int] = Field(
        default={}
    )
    """OpenAI's `quality`, as numbers of steps; a value not named here is ignored and said so."""
    profile: Profile
    """How long it takes; the policy predicts queues with it."""
    loras: dict[Name, str] = Field(default={})
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
    settings: dict[str, Any] = Field(default={}, repr=False)
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
    loras: dict[Name, str] = Field(default={})
    """What the provider knows each LoRA by; a request with one not named here does not fit."""
    max_steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The most steps the provider takes for this model; a request with more does not fit."""


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
    settings: dict[str, Any] = Field(default={}, repr=False)
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
    """The rack it stands in."""
    nvlink_domain: str = ""
    """Machines of one domain share a fast fabric; claims prefer whole domains."""
    gpus: Annotated[int, Field(ge=0, le=1024)] = 8
    """GPUs in the machine."""
