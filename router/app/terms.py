"""The config in the policy's terms: rules, workers with their lanes, accounts with their limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time

from config.schema import Config, ExternalPool, OnPremPool
from config.schema import Model as ModelConfig
from config.schema import Offer as OfferConfig
from config.schema import Price as PriceConfig
from providers.contract import Capabilities
from router.model.money import Price, micro_usd
from router.model.rules import HomePool, ModelRules, Offer, Profile, Rules
from router.store.ledger import Account
from router.store.roster import WorkerRecord
from router.telemetry.labels import Labels


def onprem_pools(config: Config) -> dict[str, OnPremPool]:
    """The on-prem pools by name."""
    return {name: pool for name, pool in config.pools.items() if isinstance(pool, OnPremPool)}


def external_pools(config: Config) -> dict[str, ExternalPool]:
    """The provider accounts by name."""
    return {name: pool for name, pool in config.pools.items() if isinstance(pool, ExternalPool)}


def rules_of(config: Config, version: str, capabilities: Mapping[str, Capabilities]) -> Rules:
    """What the policy is told. `capabilities` are those of each pool's dialect as it is set up."""
    onprem, external = onprem_pools(config), external_pools(config)
    models = {}
    for name, model in config.models.items():
        homes = tuple(
            _home(pool, onprem[pool], name, model, capabilities[pool]) for pool in (model.home, *model.also)
        )
        offers = tuple(
            _offer(pool, external[pool].models[name], capabilities[pool])
            for pool in config.overflow
            if name in external[pool].models
        )
        profile = Profile(**model.profile.model_dump())
        models[name] = ModelRules(name, homes, profile, offers, model.steps)
    return Rules(version, models)


def workers_of(config: Config) -> tuple[WorkerRecord, ...]:
    """Every worker that the config lists, with its lanes."""
    return tuple(
        WorkerRecord(worker.id, name, worker.node, worker.url, worker.slots, _lanes(pool, worker.loras))
        for name, pool in onprem_pools(config).items()
        for worker in pool.workers
    )


def accounts_of(config: Config) -> tuple[Account, ...]:
    """Every provider account with its limits."""
    return tuple(
        Account(name, pool.concurrency, micro_usd(pool.daily_budget_usd))
        for name, pool in external_pools(config).items()
    )


def pools_of_nodes(config: Config) -> dict[str, tuple[str, ...]]:
    """For every node: the on-prem pools that have workers on it."""
    found: dict[str, list[str]] = {node: [] for node in config.nodes}
    for name, pool in onprem_pools(config).items():
        for node in {worker.node for worker in pool.workers}:
            found[node].append(name)
    return {node: tuple(sorted(pools)) for node, pools in found.items()}


def labels_of(config: Config) -> Labels:
    """The words that may stand in metrics: those of this config, so that a client cannot make a series."""
    return Labels(
        tenants=frozenset(config.tenants),
        classes=frozenset(config.classes),
        models=frozenset(config.models),
        pools=frozenset(config.pools),
        accounts=frozenset(external_pools(config)),
        workers=frozenset(worker.id for worker in workers_of(config)),
    )


def _lanes(pool: OnPremPool, loras: tuple[str, ...]) -> tuple[str, ...]:
    """A worker with a server-global LoRA puts it on everything it makes, so it serves that lane alone."""
    if loras:
        return tuple(f"{model}+{lora}" for model in pool.models for lora in loras)
    return tuple(pool.models)


def _home(
    name: str, pool: OnPremPool, model: str, terms: ModelConfig, capabilities: Capabilities
) -> HomePool:
    pinned = frozenset(lora for worker in pool.workers for lora in worker.loras)
    return HomePool(name, pool.models[model], capabilities, pinned, terms.loras)


def _offer(pool: str, offer: OfferConfig, capabilities: Capabilities) -> Offer:
    return Offer(
        pool=pool,
        target=offer.target,
        prices=tuple(_price(price) for price in offer.prices),
        capabilities=capabilities,
        latency_s=offer.latency_s,
        spread=offer.latency_spread,
        loras=offer.loras,
        max_steps=offer.max_steps,
    )


def _price(price: PriceConfig) -> Price:
    since = datetime.combine(price.valid_from, time(), UTC).timestamp()
    return Price(micro_usd(price.per_image_usd), micro_usd(price.per_megapixel_usd), since)
