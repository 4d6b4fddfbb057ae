"""Do the numbers of a deployment agree with each other, and what is allowed but probably not meant? Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from config.addresses import malformed
from config.problems import Finding, Path
from config.schema import Config, ExternalPool, Leases, Limits, Model, OnPremPool


def implausible(config: Config) -> Iterator[Finding]:
    """Numbers that cannot all hold."""
    yield from malformed(config)
    yield from _leases(config.leases)
    if config.gateway.drain_grace_s >= config.gateway.drain_limit_s:
        yield Finding(("gateway", "drain_grace_s"), "should be less than drain_limit_s")
    for name, request_class in config.classes.items():
        if request_class.deadline_s > config.limits.deadline_s:
            yield Finding(("classes", name, "deadline_s"), "is more than limits.deadline_s allows")
    for name, model in config.models.items():
        yield from _size(("models", name, "size"), model, config.limits)
        yield from _steps(("models", name), model, config.limits)


def worth_a_look(config: Config, today: date) -> Iterator[Finding]:
    """What is allowed and probably not meant: a warning each."""
    if not config.keys:
        yield Finding(
            ("keys",), "there is no key, so every request is refused", "run `spillover keys create`"
        )
    for name, pool in config.pools.items():
        if isinstance(pool, OnPremPool):
            if not pool.workers:
                yield Finding(("pools", name, "workers"), "the pool has no workers")
        else:
            yield from _never_used(config, name)
            yield from _prices(name, pool, today)
    yield from _stuck(config)


def _leases(leases: Leases) -> Iterator[Finding]:
    if leases.renew_s >= leases.lease_s / 2:
        yield Finding(
            ("leases", "renew_s"), "should be less than half of lease_s, or one lost call loses the slot"
        )
    if leases.send_window_s >= leases.lease_s:
        yield Finding(("leases", "send_window_s"), "should be less than lease_s")
    if leases.offer_s >= leases.lease_s:
        yield Finding(("leases", "offer_s"), "should be less than lease_s")
    if leases.tend_s >= leases.silent_s:
        yield Finding(("leases", "tend_s"), "should be less than silent_s, or every replica looks dead")


def _size(path: Path, model: Model, limits: Limits) -> Iterator[Finding]:
    width, height = map(int, model.size.split("x"))
    if width % model.multiple_of or height % model.multiple_of:
        yield Finding(path, f"width and height should be multiples of {model.multiple_of} (multiple_of)")
    if width * height > model.max_pixels:
        yield Finding(path, f"is more than the model's max_pixels, {model.max_pixels}")
    if width * height > limits.pixels:
        yield Finding(path, f"is more than limits.pixels, {limits.pixels}")


def _steps(path: Path, model: Model, limits: Limits) -> Iterator[Finding]:
    most = min(model.max_steps, limits.steps)
    which = "limits.steps" if limits.steps < model.max_steps else "the model's max_steps"
    if model.steps > most:
        yield Finding((*path, "steps"), f"is more than {which}, {most}")
    for word, steps in model.quality.items():
        if not 1 <= steps <= most:
            yield Finding((*path, "quality", word), f"should be from 1 to {which}, {most}")


def _never_used(config: Config, name: str) -> Iterator[Finding]:
    if name not in config.overflow:
        yield Finding(("pools", name), "the pool is never used", "name it in `overflow`")


def _prices(name: str, pool: ExternalPool, today: date) -> Iterator[Finding]:
    for model, offer in pool.models.items():
        first = min(price.valid_from for price in offer.prices)
        if first > today:
            path = ("pools", name, "models", model, "prices")
            yield Finding(
                path, f"no price holds before {first.isoformat()}, so nothing overflows there until then"
            )


def _stuck(config: Config) -> Iterator[Finding]:
    offered = {model for name in config.overflow for model in config.pools[name].models}
    for model in config.models:
        if config.overflow and model not in offered:
            yield Finding(("models", model), "no pool of `overflow` offers it, so its excess can only wait")
