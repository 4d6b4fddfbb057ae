"""Why outgoing HTTP is aiohttp itself: what httpx does under Spillover's load. If these fail, look again."""

from __future__ import annotations

import asyncio
import random

import httpx
import httpx_aiohttp
import pytest

from tests.providers.scripted import Wire, raw_server, reply, resetting


async def _slow(wire: Wire) -> None:
    await asyncio.sleep(0.01)
    await wire.send(reply())


async def _wedged(url: str, seed: int) -> bool:
    """After 800 cancelled requests nothing runs, and yet the next request finds no connection."""
    rng = random.Random(seed)
    limits = httpx.Limits(max_connections=5)

    async with httpx.AsyncClient(limits=limits, timeout=5.0, trust_env=False) as client:

        async def one() -> None:
            await asyncio.sleep(rng.uniform(0, 0.8))
            try:
                async with asyncio.timeout(rng.uniform(0, 0.03)):
                    await client.post(url, content=b"{}")
            except (TimeoutError, httpx.HTTPError):
                pass

        async with asyncio.TaskGroup() as group:
            for _ in range(800):
                group.create_task(one())
        try:
            await client.post(url, content=b"{}", timeout=httpx.Timeout(1.0, pool=0.5))
        except httpx.PoolTimeout:
            return True
    return False


async def test_the_pool_of_httpx_wedges_under_cancellation() -> None:
    async with raw_server(_slow) as server:
        for seed in range(6):
            if await _wedged(server.url, seed):
                return
    pytest.fail("httpx did not wedge: the decision against its transport may be looked at again")


async def test_httpx_aiohttp_takes_a_lost_reply_for_a_failed_connect() -> None:
    """The server had the whole request and may have carried it out; `ConnectTimeout` says the opposite."""
    async with raw_server(resetting) as server:
        transport = httpx_aiohttp.AiohttpTransport(trust_env=False)
        async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
            with pytest.raises(httpx.ConnectTimeout):
                await client.post(server.url, content=b"{}")
        assert len(server.requests) == 1
