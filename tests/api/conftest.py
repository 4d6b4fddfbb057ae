"""Running deployments for tests of the edge."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import redis

from tests.api.deployment import SLOW, House, back_ends, document, house
from tests.conftest import Valkey


@pytest.fixture(scope="module")
async def shared(valkey: Valkey) -> AsyncIterator[House]:
    """The same as `small`, once for all tests of a module that change nothing."""
    with redis.Redis.from_url(valkey.url) as client:
        client.flushall()
    async with (
        back_ends() as (fleet, fal),
        house(document(valkey.url, fleet.urls, fal.url), fleet, fal) as running,
    ):
        yield running


@pytest.fixture
async def small(redis_url: str) -> AsyncIterator[House]:
    """Two quick workers, one provider, one replica."""
    async with (
        back_ends() as (fleet, fal),
        house(document(redis_url, fleet.urls, fal.url), fleet, fal) as running,
    ):
        yield running


@pytest.fixture
async def slow(redis_url: str) -> AsyncIterator[House]:
    """One worker that takes a second for everything."""
    async with (
        back_ends(SLOW, workers=1) as (fleet, fal),
        house(document(redis_url, fleet.urls, fal.url), fleet, fal) as running,
    ):
        yield running
