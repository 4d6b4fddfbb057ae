"""A replica stands still in mid-flight while training takes nodes: it wakes up, and starts nothing there."""

from __future__ import annotations

import asyncio
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from loadtests.emulators import Speed
from tests.journeys import rawstore
from tests.journeys.client import Answered, Client, clients, until
from tests.journeys.deployment import PRIVATE
from tests.journeys.stack import Stack, stack

STEADY = Speed(fixed_s=0.3, per_step_mp_s=0.05)
CLAIMED = ("w-0", "w-1")
"""The workers of node-1."""
REQUESTS = 24


@pytest.mark.chaos
async def test_a_sleeper_starts_nothing_on_a_claimed_node(tmp_path: Path) -> None:
    with stack(tmp_path, gateways=2, workers=4, speed=STEADY) as running:
        sleeper = running.gateways[0]
        async with clients(*running.urls, key=PRIVATE) as (asleep, awake):
            for round_ in range(2):
                async with asyncio.TaskGroup() as group:
                    asked = [
                        group.create_task(client.make(f"boat {round_} {i}", seed=i))
                        for i in range(REQUESTS)
                        for client in (asleep, awake)
                    ]
                    await until(partial(well_under_way, running, running.workers.count("finished")))
                    sleeper.process.send(signal.SIGSTOP)
                    claim = await claimed(awake)
                    held = time.monotonic()
                    sleeper.process.send(signal.SIGCONT)
                    await asyncio.wait(asked)
                    released = time.monotonic()
                    assert (await awake.admin("DELETE", claim)).body["phase"] == "released"
                all_well([task.result() for task in asked])
                assert begun_on_claimed(running, held, released) == []
        assert set(running.workers.most_at_once().values()) == {1}
        await until(lambda: not rawstore.leases(running.store.url))
        assert rawstore.waiting(running.store.url) == 0


async def claimed(client: Client) -> str:
    """Claims node-1; returns the claim's path once training has it."""
    order = {"nodes": ["node-1"], "owner": "training", "reason": "a run", "grace_s": 0.5}
    opened = await client.admin("POST", "/admin/claims", json=order)
    assert opened.status == 201
    path = f"/admin/claims/{opened.body['id']}"

    async def held() -> bool:
        return bool((await client.admin("GET", path)).body["phase"] == "held")

    await until(held, 12)
    return path


def well_under_way(running: Stack, before: int) -> bool:
    return running.workers.count("finished") > before + 4


def begun_on_claimed(running: Stack, since: float, until_: float) -> list[str]:
    """Workers of the claimed node that were given something while training had it."""
    return [
        row["worker"]
        for row in running.workers.rows("received", "started")
        if row["worker"] in CLAIMED and since <= row["at"] <= until_
    ]


def all_well(answers: list[Answered]) -> None:
    assert [answer.status for answer in answers] == [200] * len(answers)
    assert len({answer.job for answer in answers}) == len(answers)
