from __future__ import annotations

import asyncio

import pytest

from tests.serving.houses import house, until

pytestmark = pytest.mark.anyio


async def test_one_image_is_made_on_prem(redis_url: str) -> None:
    async with house(redis_url) as home:
        answer = await home.make(home.ticket())
        assert (answer.reason, answer.route, answer.attempts, answer.paid) == ("done", "onprem", 1, False)
        assert len(answer.images) == 1
        await until(lambda: not home.parts.lookout.pictures["onprem"].leases)


async def test_a_crowd_waits_in_the_queue(redis_url: str) -> None:
    async with house(redis_url) as home:
        answers = await asyncio.gather(*(home.make(home.ticket()) for _ in range(40)))
        assert {answer.reason for answer in answers} == {"done"}
        assert {answer.route for answer in answers} == {"onprem"}
        for worker in home.fleet.workers:
            assert home.fleet.ledger.max_running(worker.name) <= 1
