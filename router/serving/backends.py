"""Providers by where they are: made once for each worker address and each account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from providers.contract import Provider


@dataclass(slots=True)
class Backends:
    """`accounts`: the external pools' providers. `workers[pool]` makes the provider of one worker address."""

    accounts: Mapping[str, Provider]
    workers: Mapping[str, Callable[[str], Provider]]
    dialects: Mapping[str, str] = field(default_factory=dict)
    _made: dict[tuple[str, str], Provider] = field(default_factory=dict)

    def account(self, pool: str) -> Provider:
        """The provider of an external pool."""
        return self.accounts[pool]

    def worker(self, pool: str, url: str) -> Provider:
        """The provider at one worker's address. Addresses come from the config, so they are few."""
        key = (pool, url)
        if key not in self._made:
            self._made[key] = self.workers[pool](url)
        return self._made[key]
