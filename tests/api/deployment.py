"""A small deployment with emulated back ends, a replica of it, and clients. Nothing is patched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

import httpx
import yaml

from config.interpolation import Surroundings, read_secret
from config.keys import create
from config.loading import Loaded, parse
from loadtests.emulators import Fal, Fleet, Speed, fal_queue, sglang_workers
from router.app.replica import Replica, running

CLIENT = create(b"client-key-one" + bytes(30))
RIVAL = create(b"rival-key-two-" + bytes(30))
ADMIN = create(b"admin-key-thre" + bytes(30))
METRICS = create(b"metrics-key-4-" + bytes(30))
DISABLED = create(b"disabled-key-5" + bytes(30))

PATH = "/v1/images/generations"
QUICK = Speed(fixed_s=0.02, per_step_mp_s=0.0)
SLOW = Speed(fixed_s=1.0, per_step_mp_s=0.0)


def bearer(key: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.text}"}


def _key(key: Any, tenant: str, *scopes: str, **more: Any) -> dict[str, Any]:
    return {
        "id": key.id,
        "secret_sha256": key.secret_sha256,
        "tenant": tenant,
        "scopes": list(scopes),
        **more,
    }


def document(redis_url: str, workers: list[str], fal_url: str) -> dict[str, Any]:
    """The configuration, to be changed by a test before it is loaded."""
    return {
        "redis": {"url": redis_url},
        "gateway": {"port": 0, "drain_grace_s": 0.2, "drain_limit_s": 8.0},
        "leases": {"probe_s": 0.1, "tend_s": 0.1},
        "classes": {
            "standard": {"deadline_s": 20},
            "hasty": {"deadline_s": 5},
        },
        "tenants": {"product": {}, "house": {"external": False}},
        "keys": [
            _key(CLIENT, "product", "generate"),
            _key(RIVAL, "house", "generate"),
            _key(ADMIN, "product", "admin"),
            _key(METRICS, "product", "metrics"),
            _key(DISABLED, "product", "generate", "admin", "metrics", disabled=True),
        ],
        "nodes": {f"node-{i}": {"rack": "a"} for i in range(len(workers))},
        "default_model": "krea",
        "models": {
            "krea": {
                "home": "house",
                "aliases": ["dall-e-3"],
                "size": "64x64",
                "steps": 4,
                "max_steps": 50,
                "quality": {"high": 20},
                "loras": {"ink": "ink-v1"},
                "profile": {"fixed_s": 0.02, "per_step_mp_s": 0.01},
            }
        },
        "pools": {
            "house": {
                "place": "onprem",
                "dialect": "openai_images",
                "settings": {"server": "sglang"},
                "models": {"krea": "krea-2-turbo"},
                "workers": [
                    {"id": f"worker-{i}", "node": f"node-{i}", "url": url} for i, url in enumerate(workers)
                ],
            },
            "fal": {
                "place": "external",
                "dialect": "fal",
                "url": fal_url,
                "credential": "id:secret",
                "daily_budget_usd": 5,
                "models": {
                    "krea": {
                        "target": "fal-ai/flux/dev",
                        "latency_s": 0.3,
                        "prices": [{"per_image_usd": 0.03, "valid_from": date(2026, 1, 1)}],
                    }
                },
            },
        },
        "overflow": ["fal"],
    }


def loaded(content: dict[str, Any]) -> Loaded:
    found = parse(yaml.safe_dump(content), Surroundings({}, read_secret), date(2026, 6, 1))
    assert isinstance(found, Loaded), found
    return found


@dataclass(frozen=True)
class House:
    """Everything that runs in one test."""

    replica: Replica
    fleet: Fleet
    fal: Fal
    http: httpx.AsyncClient

    @property
    def url(self) -> str:
        return self.replica.url

    async def make(self, prompt: str = "a hill", key: Any = CLIENT, **fields: Any) -> httpx.Response:
        headers = bearer(key) | fields.pop("headers", {})
        return await self.http.post(PATH, json={"prompt": prompt, **fields}, headers=headers)

    async def admin(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = bearer(ADMIN) | more.pop("headers", {})
        return await self.http.request(method, path, headers=headers, **more)

    async def until(self, what: Any, seconds: float = 8.0) -> None:
        """Asks again until it holds; fails when it never does."""
        async with asyncio.timeout(seconds):
            while not await what():  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # between two looks at a real server

    async def ready(self) -> bool:
        if (await self.http.get("/readyz")).status_code != 200:
            return False
        state = (await self.admin("GET", "/admin/state")).json()
        return bool(state["pools"]) and all(pool["slots"]["free"] for pool in state["pools"])


@asynccontextmanager
async def back_ends(speed: Speed = QUICK, workers: int = 2) -> AsyncIterator[tuple[Fleet, Fal]]:
    async with sglang_workers(workers, speed=speed) as fleet, fal_queue(speed=speed) as fal:
        yield fleet, fal


@asynccontextmanager
async def house(content: dict[str, Any], fleet: Fleet, fal: Fal) -> AsyncIterator[House]:
    async with (
        running(loaded(content)) as replica,
        httpx.AsyncClient(base_url=replica.url, timeout=15) as http,
    ):
        found = House(replica, fleet, fal, http)
        await found.until(found.ready)
        yield found
