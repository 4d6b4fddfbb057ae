"""Fast emulators and plain HTTP clients. Nothing is patched: every test talks over a loopback socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from loadtests.emulators import Fal, Fleet, Speed, fal_queue, sglang_workers

SMALL = {"size": "64x64", "response_format": "b64_json", "output_format": "png"}


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def quick() -> Speed:
    return Speed(fixed_s=0.02, per_step_mp_s=0.0)


@pytest.fixture
def steady() -> Speed:
    """Slow enough that something can happen while a generation runs."""
    return Speed(fixed_s=0.3, per_step_mp_s=0.0)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=8) as client:
        yield client


@pytest.fixture
async def fleet(quick: Speed) -> AsyncIterator[Fleet]:
    async with sglang_workers(1, speed=quick) as running:
        yield running


@pytest.fixture
async def slow_fleet(steady: Speed) -> AsyncIterator[Fleet]:
    async with sglang_workers(1, speed=steady) as running:
        yield running


@pytest.fixture
async def fal(quick: Speed) -> AsyncIterator[Fal]:
    async with fal_queue(speed=quick) as running:
        yield running


@pytest.fixture
def ask(http: httpx.AsyncClient) -> Callable[..., Any]:
    """POST a small generation: `await ask(url, prompt, job=..., **fields)`."""

    async def post(url: str, prompt: str = "a hill", job: str | None = None, **fields: Any) -> httpx.Response:
        headers = {} if job is None else {"Spillover-Attempt": f"{job}.1;fence=7"}
        body = {"prompt": prompt, **SMALL, **fields}
        return await http.post(f"{url}/v1/images/generations", json=body, headers=headers)

    return post
