"""Fast emulators and plain HTTP clients. Nothing is patched: every test talks over a loopback socket."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from loadtests.emulators import Fal, Fleet, Speed, fal_queue, sglang_workers

SMALL = {"size": "64x64", "response_format": "b64_json", "output_format": "png"}


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_server_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """An exception inside an emulator fails the test that caused it."""
    yield
    assert [
        record.getMessage() for record in caplog.get_records("call") if record.name.startswith("uvicorn")
    ] == []


@pytest.fixture
def quick() -> Speed:
    return Speed(fixed_s=0.02, per_step_mp_s=0.0)


@pytest.fixture
def steady() -> Speed:
    """Slow enough that something can happen while a generation runs."""
    return Speed(fixed_s=0.3, per_step_mp_s=0.0)


@pytest.fixture(scope="session")
def tls() -> ssl.SSLContext:
    """Reading the certificate store takes longer than most tests, so clients share one reading."""
    return ssl.create_default_context()


@pytest.fixture
async def http(tls: ssl.SSLContext) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=8, verify=tls) as client:
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


@pytest.fixture
async def slow_fal(steady: Speed) -> AsyncIterator[Fal]:
    async with fal_queue(speed=steady, concurrency=1) as running:
        yield running


@pytest.fixture
async def key_http(tls: ssl.SSLContext) -> AsyncIterator[httpx.AsyncClient]:
    """A client that carries a key."""
    async with httpx.AsyncClient(timeout=8, verify=tls, headers={"Authorization": "Key id:secret"}) as client:
        yield client


@pytest.fixture
def submit(key_http: httpx.AsyncClient) -> Callable[..., Any]:
    """POST to an app: `await submit(fal, prompt, job=..., headers=..., **input)`."""

    async def post(
        fal: Fal,
        prompt: str = "a hill",
        app: str = "fal-ai/flux/dev",
        job: str | None = None,
        headers: dict[str, str] | None = None,
        **fields: Any,
    ) -> httpx.Response:
        attempt = {} if job is None else {"Spillover-Attempt": f"{job}.1;fence=3"}
        body = {"prompt": prompt, "image_size": "square", "output_format": "png", **fields}
        return await key_http.post(f"{fal.url}/{app}", json=body, headers={**attempt, **(headers or {})})

    return post
