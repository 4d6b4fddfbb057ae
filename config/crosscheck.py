"""Do the names in a deployment lead somewhere, and only to one thing? Pure; says nothing of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from config.problems import Finding, Path, did_you_mean, written
from config.schema import Config, ExternalPool, Model, OnPremPool, Worker


def contradictions(config: Config) -> Iterator[Finding]:
    """Every name that leads nowhere, or that two things claim."""
    yield from _known(("default_model",), config.default_model, config.models, "model")
    for name, model in config.models.items():
        yield from _pools_of_model(config, name, model)
    for name, pool in config.pools.items():
        if name == "overflow":
            yield Finding(("pools", name), "`overflow` is the name of the switch for all external pools")
        if isinstance(pool, OnPremPool):
            yield from _onprem(config, name, pool)
        else:
            yield from _external(config, name, pool)
    yield from _overflow(config)
    yield from _access(config)
    yield from _unique(_worker_ids(config), "worker id")
    yield from _unique(_worker_urls(config), "worker url")
    yield from _unique(_aliases(config), "name of a model")
    yield from _unique(((("keys", i, "id"), key.id) for i, key in enumerate(config.keys)), "key id")


def _pools_of_model(config: Config, name: str, model: Model) -> Iterator[Finding]:
    named: list[tuple[Path, str]] = [(("models", name, "home"), model.home)]
    named += [(("models", name, "also", index), pool) for index, pool in enumerate(model.also)]
    serving = [
        pool for pool, block in config.pools.items() if block.place == "onprem" and name in block.models
    ]
    for path, pool in named:
        if pool not in config.pools:
            yield Finding(path, f"no pool is named `{pool}`", did_you_mean(pool, serving or config.pools))
        elif config.pools[pool].place != "onprem":
            yield Finding(
                path, f"`{pool}` is external; requests wait only for on-prem pools", _one_of(serving)
            )
        elif pool not in serving:
            yield Finding(path, f"the pool `{pool}` does not serve `{name}`", _one_of(serving))
    yield from _unique(named, "pool")


def _onprem(config: Config, name: str, pool: OnPremPool) -> Iterator[Finding]:
    loras: set[str] = set()
    for model in pool.models:
        yield from _known(("pools", name, "models", model), model, config.models, "model")
        loras |= config.models[model].loras.keys() if model in config.models else set()
    for index, worker in enumerate(pool.workers):
        path = ("pools", name, "workers", index)
        yield from _known((*path, "node"), worker.node, config.nodes, "node")
        for place, lora in enumerate(worker.loras):
            yield from _known((*path, "loras", place), lora, loras, "LoRA of the pool's models")


def _external(config: Config, name: str, pool: ExternalPool) -> Iterator[Finding]:
    path: Path = ("pools", name)
    if not pool.credential.get_secret_value():
        yield Finding((*path, "credential"), "is empty", "is the secret mounted, the variable filled?")
    for model, offer in pool.models.items():
        yield from _known((*path, "models", model), model, config.models, "model")
        loras = config.models[model].loras if model in config.models else offer.loras
        for lora in offer.loras:
            yield from _known((*path, "models", model, "loras", lora), lora, loras, f"LoRA of `{model}`")
        days = [
            ((*path, "models", model, "prices", index, "valid_from"), price.valid_from.isoformat())
            for index, price in enumerate(offer.prices)
        ]
        yield from _unique(days, "day of a price")


def _overflow(config: Config) -> Iterator[Finding]:
    external = [name for name, pool in config.pools.items() if pool.place == "external"]
    named: list[tuple[Path, str]] = [
        (("overflow", index), name) for index, name in enumerate(config.overflow)
    ]
    for path, name in named:
        if name not in config.pools:
            yield Finding(path, f"no pool is named `{name}`", did_you_mean(name, external))
        elif name not in external:
            yield Finding(path, f"`{name}` is on-prem; overflow goes to external pools", _one_of(external))
    yield from _unique(named, "pool")


def _access(config: Config) -> Iterator[Finding]:
    for name, tenant in config.tenants.items():
        path: Path = ("tenants", name, "request_class")
        yield from _known(path, tenant.request_class, config.classes, "class")
    for index, key in enumerate(config.keys):
        yield from _known(("keys", index, "tenant"), key.tenant, config.tenants, "tenant")


def _worker_ids(config: Config) -> Iterator[tuple[Path, str]]:
    for path, pool in _workers(config):
        yield (*path, "id"), pool.id


def _worker_urls(config: Config) -> Iterator[tuple[Path, str]]:
    for path, worker in _workers(config):
        yield (*path, "url"), worker.url.rstrip("/").lower()


def _workers(config: Config) -> Iterator[tuple[Path, Worker]]:
    for name, pool in config.pools.items():
        if isinstance(pool, OnPremPool):
            for index, worker in enumerate(pool.workers):
                yield ("pools", name, "workers", index), worker


def _aliases(config: Config) -> Iterator[tuple[Path, str]]:
    yield from ((("models", name), name) for name in config.models)
    for name, model in config.models.items():
        yield from ((("models", name, "aliases", index), alias) for index, alias in enumerate(model.aliases))


def _known(path: Path, name: str, known: Iterable[str], kind: str) -> Iterator[Finding]:
    if name not in known:
        yield Finding(path, f"no {kind} is named `{name}`", did_you_mean(name, known) or _one_of(known))


def _unique(named: Iterable[tuple[Path, str]], kind: str) -> Iterator[Finding]:
    first: dict[str, Path] = {}
    for path, name in named:
        if name in first:
            yield Finding(path, f"the same {kind} stands at {written(first[name])}")
        first.setdefault(name, path)


def _one_of(names: Iterable[str]) -> str:
    few = sorted(names)[:5]
    return "one of: " + ", ".join(few) if few else ""
