"""Running deployments for tests of the edge."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.api.deployment import SLOW, House, back_ends, document, house


@pytest.fixture(scope="module")
async def shared() -> AsyncIterator[House]:
    """The same as `small`, once for all tests of a module that change nothing.

    On a store of its own, because the other one is emptied between tests.
    """
    async with (
        back_ends() as (fleet, fal),
        house(document("embedded", fleet.urls, fal.url), fleet, fal) as running,
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
