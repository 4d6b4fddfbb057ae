"""The demo's own configuration file, and the few facts of it that the demo needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import config
from config.loading import Refused, load
from config.schema import ExternalPool, Model, OnPremPool

PATH = Path(config.__file__).parent / "demo.yaml"


@dataclass(frozen=True, slots=True)
class Deployment:
    """The default model, the pool that is its home, the account that it overflows to, and all nodes."""

    model_name: str
    model: Model
    home: OnPremPool
    account: ExternalPool
    nodes: tuple[str, ...]

    @property
    def slots(self) -> int:
        return sum(worker.slots for worker in self.home.workers)

    @property
    def node_of(self) -> Mapping[str, str]:
        """The emulators call their workers `worker-0`, `worker-1` ..., in the order of the config."""
        return {f"worker-{place}": worker.node for place, worker in enumerate(self.home.workers)}

    @property
    def usd_each(self) -> float:
        """What the provider asks for one image."""
        prices = self.account.models[self.model_name].prices
        return float(max(prices, key=lambda price: price.valid_from).per_image_usd)


def read_deployment() -> Deployment:
    """The file as it stands, without the environment."""
    loaded = load(PATH, {})
    if isinstance(loaded, Refused):
        raise ValueError(f"{PATH.name}: {loaded.problems[0].message}")
    written = loaded.config
    model = written.models[written.default_model]
    home, account = written.pools[model.home], written.pools[written.overflow[0]]
    assert isinstance(home, OnPremPool)
    assert isinstance(account, ExternalPool)
    return Deployment(written.default_model, model, home, account, tuple(written.nodes))
