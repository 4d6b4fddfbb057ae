"""Seconds: what a generation takes in a slot, and when it must start to be in time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from providers.contract import Generation
from router.model.rules import ModelRules, Offer, Profile


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds: the mean, and an upper bound that is met nearly always."""

    mean: float
    upper: float


def in_slot(profile: Profile, generation: Generation, sigmas: float) -> Estimate:
    """The time one generation holds an on-prem slot, loading included where it must be expected."""
    work = generation.megapixels * generation.count
    mean = profile.fixed_s + (profile.per_step_mp_s * generation.steps + profile.per_mp_s) * work
    if generation.loras:
        mean += profile.setup_s
    return Estimate(mean, mean * (1 + sigmas * profile.spread))


def at_provider(offer: Offer, model: ModelRules, generation: Generation, sigmas: float) -> Estimate:
    """The time from submit to image at a provider: its usual latency, grown with the work beyond one usual
    image. What loading a LoRA costs on-prem says nothing about a provider."""
    usual = in_slot(model.profile, _usual(model, generation), sigmas).mean
    asked = in_slot(model.profile, replace(generation, loras=()), sigmas).mean
    mean = offer.latency_s * max(1.0, asked / usual)
    return Estimate(mean, mean * (1 + sigmas * offer.spread))


def slot_budget(estimate: Estimate) -> float:
    """How long work may hold a slot: three times its upper estimate, at least 10 s. Abandoned work that
    nothing proves over keeps its slot this long, whatever the deadline of its ticket was."""
    return max(10.0, 3 * estimate.upper)


def attempt_budget(estimate: Estimate, left_s: float) -> float:
    """What one attempt may take before it is given up: its slot's budget, and never past the deadline."""
    return max(0.05, min(left_s, slot_budget(estimate)))


def _usual(model: ModelRules, generation: Generation) -> Generation:
    return Generation(
        model=generation.model,
        prompt="",
        width=min(generation.width, 1024),
        height=min(generation.height, 1024),
        steps=model.base_steps,
    )
