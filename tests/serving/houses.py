"""Whole replicas without their HTTP: real store, real emulators, everything that carries a ticket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from config.interpolation import Surroundings
from config.loading import Loaded, parse
from loadtests.emulators import Fal, Fleet, Speed, fal_queue, sglang_workers
from providers.contract import Generation
from providers.http import open_http
from router.app.assembly import Assembly, assemble
from router.app.loops import looping
from router.app.terms import labels_of
from router.model.ticket import Tenant, Ticket
from router.serving.answer import Answer
from router.store.link import open_link
from router.telemetry.otel import open_telemetry

FAST = Speed(fixed_s=0.05, per_step_mp_s=0.1)


def deployment(redis_url: str, workers: list[str], fal_url: str, **changes: Any) -> dict[str, Any]:
    """A small deployment: two workers a node, one model, one provider."""
    base: dict[str, Any] = {
        "redis": {"url": redis_url},
        "gateway": {"port": 0, "drain_grace_s": 0.1, "drain_limit_s": 20},
        "leases": {
            "lease_s": 2.0,
            "renew_s": 0.5,
            "offer_s": 1.0,
            "send_window_s": 1.0,
            "tend_s": 0.2,
            "silent_s": 1.5,
            "probe_s": 0.3,
            "leader_s": 1.0,
        },
        "tenants": {"house": {}, "private": {"external": False}},
        "nodes": {f"node-{i // 2 + 1}": {} for i in range(len(workers))},
        "default_model": "krea-2-turbo",
        "models": {
            "krea-2-turbo": {
                "home": "onprem",
                "size": "256x256",
                "steps": 8,
                "profile": {"fixed_s": 0.05, "per_step_mp_s": 0.1, "spread": 0.2},
            }
        },
        "pools": {
            "onprem": {
                "place": "onprem",
                "dialect": "openai_images",
                "settings": {"server": "sglang"},
                "models": {"krea-2-turbo": "krea/krea-2-turbo"},
                "workers": [
                    {"id": f"w{i}", "node": f"node-{i // 2 + 1}", "url": url} for i, url in enumerate(workers)
                ],
            },
            "fal": {
                "place": "external",
                "dialect": "fal",
                "url": fal_url,
                "credential": "id:secret",
                "models": {
                    "krea-2-turbo": {
                        "target": "fal-ai/krea-2/turbo",
                        "prices": [{"per_image_usd": "0.03", "valid_from": "2026-01-01"}],
                        "latency_s": 0.5,
                    }
                },
                "concurrency": 8,
                "daily_budget_usd": 50,
            },
        },
        "overflow": ["fal"],
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        block = base
        for part in parents:
            block = block[part]
        block[last] = value
    return base


def loaded(document: Mapping[str, Any]) -> Loaded:
    """The deployment through the real loader."""
    result = parse(json.dumps(document), Surroundings({}, lambda path: ""), date(2026, 11, 30))
    assert isinstance(result, Loaded), result
    return result


@dataclass
class House:
    """One replica and what it stands on."""

    parts: Assembly
    fleet: Fleet
    fal: Fal
    made: int = 0

    def ticket(
        self, deadline_s: float = 10.0, *, tenant: Tenant | None = None, joinable: bool = False, **wanted: Any
    ) -> Ticket:
        """A ticket whose deadline is `deadline_s` from now."""
        self.made += 1
        now = self.parts.gate.clock.now()
        fields = {"model": "krea-2-turbo", "prompt": "a lighthouse", "width": 256, "height": 256, "steps": 8}
        generation = Generation(**{**fields, "seed": self.made, **wanted})
        name = f"{self.parts.gate.replica}-{self.made}"
        return Ticket(
            name, generation, tenant or Tenant("house"), "standard", now, now + deadline_s, joinable=joinable
        )

    async def make(self, ticket: Ticket) -> Answer:
        """Carries a ticket to its answer."""
        run = self.parts.desk.submit(ticket)
        assert run is not None
        return await run.answer()


@asynccontextmanager
async def replica(
    document: Mapping[str, Any], fleet: Fleet, fal: Fal, name: str = "r1"
) -> AsyncIterator[House]:
    """One more replica on the same store, workers and provider. Ready when this yields."""
    deployment = loaded(document)
    config = deployment.config
    with open_telemetry("test", 0.0, name, labels_of(config)) as telemetry:
        async with (
            open_http() as http,
            open_link(config.redis.url, 0.5, 1.0) as link,
            asyncio.TaskGroup() as runs,
        ):
            parts = assemble(deployment, name, link, http, telemetry, runs)
            async with looping(parts, config, name, telemetry):
                house = House(parts, fleet, fal)
                await until(lambda: ready(house), 10)
                yield house
                parts.desk.stop_all()
                await parts.desk.finished()
                await parts.errands.finished()


@asynccontextmanager
async def house(
    redis_url: str, workers: int = 4, speed: Speed = FAST, **changes: Any
) -> AsyncIterator[House]:
    """A replica with its own workers and provider."""
    async with sglang_workers(workers, speed=speed) as fleet, fal_queue(speed=speed) as fal:
        document = deployment(redis_url, fleet.urls, fal.url, **changes)
        async with replica(document, fleet, fal) as found:
            yield found


def ready(house: House) -> bool:
    """Have all workers been seen, and found well?"""
    pictures = house.parts.lookout.pictures.values()
    return house.parts.lookout.complete and all(
        picture.view.workers and all(worker.up for worker in picture.view.workers) for picture in pictures
    )


async def until(condition: Any, within_s: float = 5.0) -> None:
    """Waits for a condition on the outside world; fails loudly if it does not come."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 (the world has no event to wait for)
            await asyncio.sleep(0.02)
