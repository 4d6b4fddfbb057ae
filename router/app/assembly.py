"""Wires a replica's parts together. Nothing is started and nothing is awaited here."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from config.loading import Loaded
from config.schema import Config, ExternalPool, OnPremPool
from providers.contract import Capabilities, Provider
from providers.http import Http
from providers.registry import connect
from router.api.gate import Gate
from router.app.control_plane import ControlPlane
from router.app.terms import accounts_of, external_pools, onprem_pools, pools_of_nodes, rules_of, workers_of
from router.fleet.claims import Claims
from router.fleet.flags import Flags, Switchable
from router.serving.attempt import ExternalAttempts, OnPremAttempts
from router.serving.backends import Backends
from router.serving.bells import Bells
from router.serving.desk import Desk
from router.serving.dispatch import Dispatch
from router.serving.drain import Drain
from router.serving.errands import Errands
from router.serving.holdings import Holdings
from router.serving.lookout import Lookout, PoolTerms
from router.serving.steps import Steps
from router.store.capacity import Capacity
from router.store.clock import StoreClock
from router.store.control import Control
from router.store.ledger import Ledger
from router.store.link import Link
from router.store.roster import Roster
from router.telemetry.otel import Telemetry

FREEZE_S = 1.0
"""A store that ran no script for longer than this stood still, and for one lease time nothing expires in it.
A pool that is looked at more seldom is given three looks' time, or it would always seem to stand still."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """A wired replica. `gate` is what HTTP sees of it."""

    gate: Gate
    desk: Desk
    errands: Errands
    holdings: Holdings
    lookout: Lookout
    drain: Drain
    control: Control
    plane: ControlPlane


def assemble(
    loaded: Loaded, name: str, link: Link, http: Http, telemetry: Telemetry, runs: asyncio.TaskGroup
) -> Assembly:
    """All parts of the replica `name`, on open connections. Runs and errands will live in `runs`."""
    config, clock = loaded.config, StoreClock(time.monotonic, time.time)  # noqa: TID251 (the clocks are given out here)
    backends = _backends(config, http)
    rules = rules_of(config, loaded.text_hash[:12], _capabilities(config, http))
    capacity = Capacity(link, clock, name, config.leases.send_window_s)
    ledger, control = Ledger(link, clock, accounts_of(config)), Control(link, clock)
    holdings, bells, errands = Holdings(capacity, asyncio.sleep), Bells(), Errands(runs)
    drain = Drain(config.gateway.drain_grace_s, config.gateway.drain_limit_s, time.monotonic)
    lookout = Lookout(
        link, clock, capacity, ledger, control, holdings, bells, telemetry.record, _pool_terms(config)
    )
    steps = Steps(
        rules=rules,
        clock=clock,
        capacity=capacity,
        ledger=ledger,
        lookout=lookout,
        backends=backends,
        onprem=OnPremAttempts(capacity, holdings, errands),
        external=ExternalAttempts(ledger, errands, time.monotonic),
        record=telemetry.record,
        spans=telemetry.spans,
    )
    dispatch = Dispatch(
        rules, clock, lookout, bells, steps, drain, telemetry.record, errands, telemetry.spans
    )
    desk = Desk(dispatch, runs, config.limits.in_flight)
    things = _switchable(config)
    claims = Claims(control, capacity, clock, things.nodes, _ids("clm"), telemetry.record)
    flags = Flags(control, ledger, clock, things, telemetry.record)
    plane = ControlPlane(
        claims=claims,
        flags=flags,
        control=control,
        roster=Roster(link),
        lookout=lookout,
        backends=backends,
        clock=clock,
        record=telemetry.record,
        workers=workers_of(config),
        probe_s=config.leases.probe_s,
    )
    gate = Gate(
        config=config,
        rules=rules,
        desk=desk,
        lookout=lookout,
        drain=drain,
        clock=clock,
        claims=claims,
        flags=flags,
        control=control,
        record=telemetry.record,
        spans=telemetry.spans,
        prometheus=lambda: (telemetry.prometheus(), telemetry.content_type),
        replica=name,
        new_id=_ids("job"),
    )
    return Assembly(gate, desk, errands, holdings, lookout, drain, control, plane)


def _backends(config: Config, http: Http) -> Backends:
    return Backends(
        accounts={name: _account(pool, http) for name, pool in external_pools(config).items()},
        workers={name: _workers(pool, http) for name, pool in onprem_pools(config).items()},
        dialects={name: pool.dialect for name, pool in config.pools.items()},
    )


def _account(pool: ExternalPool, http: Http) -> Provider:
    return connect(pool.dialect, pool.settings, http, pool.url, pool.credential.get_secret_value())


def _workers(pool: OnPremPool, http: Http) -> Callable[[str], Provider]:
    return lambda url: connect(pool.dialect, pool.settings, http, url, None)


def _capabilities(config: Config, http: Http) -> Mapping[str, Capabilities]:
    """What each pool can honour, as its dialect is set up: the address plays no part in it."""
    made = {
        name: connect(pool.dialect, pool.settings, http, "http://localhost", None)
        for name, pool in config.pools.items()
    }
    return {name: provider.capabilities for name, provider in made.items()}


def _pool_terms(config: Config) -> Mapping[str, PoolTerms]:
    leases = config.leases
    freeze_s = max(FREEZE_S, 3 * leases.tend_s)
    terms = PoolTerms(leases.lease_s, leases.offer_s, leases.silent_s, freeze_s, leases.tend_s)
    return dict.fromkeys(onprem_pools(config), terms)


def _switchable(config: Config) -> Switchable:
    return Switchable(
        nodes=pools_of_nodes(config),
        pools=tuple(onprem_pools(config)),
        providers=tuple(external_pools(config)),
        models=tuple(config.models),
    )


def _ids(kind: str) -> Callable[[], str]:
    return lambda: f"{kind}_{secrets.token_hex(10)}"
