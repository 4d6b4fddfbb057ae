"""The store stands still, or comes back empty: refusals come quickly, and nothing that runs is lost."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest

from loadtests.emulators import Speed
from tests.journeys import rawstore
from tests.journeys.client import Answered, Client, clients, until
from tests.journeys.deployment import PRIVATE
from tests.journeys.stack import stack

FROZEN_S = 4.0
SLOW = Speed(fixed_s=2.5, per_step_mp_s=0.0)


@pytest.mark.chaos
async def test_a_frozen_store_costs_new_requests_only(tmp_path: Path) -> None:
    with stack(tmp_path, workers=4, speed=SLOW) as running:
        gateway = running.gateways[0]
        async with clients(gateway.url, key=PRIVATE) as (client,), asyncio.TaskGroup() as group:
            begun = [group.create_task(client.make(f"begun {i}", seed=i)) for i in range(3)]
            await until(lambda: running.workers.count("started") == 3)
            running.store.freeze()
            frozen = time.monotonic()
            refused_for_want_of_a_store(await asyncio.gather(*(client.make("early") for _ in range(5))))
            await until(lambda: gateway.get("/readyz")[0] == 503, frozen + 3.5 - time.monotonic())
            assert gateway.get("/livez")[0] == 200
            refused_for_want_of_a_store(await asyncio.gather(*(client.make("late") for _ in range(5))))
            await asyncio.wait(begun)  # delivered while the store stands still
            assert time.monotonic() - frozen < FROZEN_S
            await until(lambda: time.monotonic() - frozen >= FROZEN_S)

            running.store.thaw()
            await until(lambda: gateway.get("/readyz")[0] == 200, 5)
            assert (await until(lambda: served_in_the_house(client), 5 + SLOW.fixed_s)).attempts == "1"
            await until(lambda: not rawstore.leases(running.store.url), 8)
        assert [task.result().status for task in begun] == [200] * 3
        assert running.workers.most_at_once().keys() <= {f"w-{i}" for i in range(4)}
        assert set(running.workers.most_at_once().values()) == {1}
        assert rawstore.waiting(running.store.url) == 0


@pytest.mark.chaos
async def test_a_store_that_comes_back_empty_is_filled_again(tmp_path: Path) -> None:
    with stack(tmp_path, gateways=2, workers=4) as running:
        async with clients(*running.urls, key=PRIVATE) as both:
            assert [(await client.make()).status for client in both] == [200, 200]
            running.store.restart_empty()
            came_back = time.monotonic()
            for client in both:
                await until(partial(served_in_the_house, client), 10)
            await until(lambda: all(gateway.get("/readyz")[0] == 200 for gateway in running.gateways), 3)
            assert time.monotonic() - came_back < 10
            await until(lambda: all_workers_up(both), 5)
        await until(lambda: not rawstore.leases(running.store.url))


async def all_workers_up(both: list[Client]) -> bool:
    """Every replica sees the whole fleet again."""
    states = [await client.state() for client in both]
    up = [[worker["up"] for pool in state["pools"] for worker in pool["workers"]] for state in states]
    return up == [[True] * 4] * len(both)


def refused_for_want_of_a_store(answers: list[Answered]) -> None:
    for answer in answers:
        assert (answer.status, answer.code) == (503, "state_store_unavailable"), answer
        assert answer.body["error"]["retryable"]
        assert 1 <= int(answer.headers["retry-after"]) <= 120
        assert answer.seconds < 1.0


async def served_in_the_house(client: Client) -> Answered | None:
    answer = await client.make()
    assert answer.status in (200, 503), answer
    return answer if answer.route == "onprem" else None
