"""What a deployment's config means to the policy: frozen, with a version that stands in every decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from providers.contract import Capabilities
from router.model.money import Price


@dataclass(frozen=True, slots=True)
class Profile:
    """How long a model takes: `fixed + per_step_mp * steps * MP * n + per_mp * MP * n` seconds."""

    fixed_s: float
    per_step_mp_s: float
    per_mp_s: float = 0.0
    spread: float = 0.1
    setup_s: float = 0.0


@dataclass(frozen=True, slots=True)
class HomePool:
    """An on-prem pool as one model sees it. `loras`: what its servers know each LoRA by. `pinned` are LoRAs
    that some workers carry server-wide."""

    name: str
    target: str
    capabilities: Capabilities
    pinned: frozenset[str] = frozenset()
    loras: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider's offer for one model. `loras`: what it knows each LoRA by. `max_steps` `None`: no limit."""

    pool: str
    target: str
    prices: tuple[Price, ...]
    capabilities: Capabilities
    latency_s: float
    spread: float = 0.3
    loras: Mapping[str, str] = field(default_factory=dict)
    max_steps: int | None = None


@dataclass(frozen=True, slots=True)
class ModelRules:
    """Where one model may run: `homes[0]` is the pool whose queue it waits in."""

    name: str
    homes: tuple[HomePool, ...]
    profile: Profile
    offers: tuple[Offer, ...] = ()
    base_steps: int = 28


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything the policy is told. `guard_s` is kept between a predicted end and a deadline."""

    version: str
    models: Mapping[str, ModelRules] = field(default_factory=dict)
    guard_s: float = 0.3
    sigmas: float = 2.0
    max_tries: int = 5
    max_onprem_failures: int = 2
    retry_hold_s: float = 0.5
