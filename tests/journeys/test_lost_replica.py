"""A replica dies without a word: its slots come back by time and evidence, and another one leads."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import aiohttp
import pytest

from loadtests.emulators import Speed
from tests.journeys import rawstore
from tests.journeys.client import Client, clients, until
from tests.journeys.deployment import LEADER_S, LEASE_S, PRIVATE
from tests.journeys.stack import Gateway, Stack, stack

SLOW = Speed(fixed_s=1.5, per_step_mp_s=0.0)
SLACK_S = 2.5
"""For polls and a busy machine."""


@pytest.mark.chaos
async def test_slots_of_a_killed_leader_come_back(tmp_path: Path) -> None:
    with stack(tmp_path, gateways=2, workers=4, speed=SLOW) as running:
        victim, survivor = leader_first(running)
        async with (
            clients(victim.url, survivor.url, key=PRIVATE) as (doomed, alive),
            asyncio.TaskGroup() as group,
        ):
            lost = [group.create_task(failing(doomed, i)) for i in range(6)]
            name = (await doomed.state())["replica"]
            await until(lambda: len(held_by(running, name)) == 4)
            await until(lambda: rawstore.waiting(running.store.url) == 2)
            kept = [group.create_task(alive.make(f"kept {i}", seed=i)) for i in range(4)]
            await until(lambda: rawstore.waiting(running.store.url) == 6)
            victim.process.kill()
            killed = time.monotonic()

            # Time turns leases into ghosts; evidence of the workers ends the ghosts.
            await until(lambda: not held_by(running, name, "leased", "offered"), LEASE_S + SLACK_S)
            await until(lambda: not held_by(running, name), LEASE_S + LEADER_S + SLACK_S)
            await until(lambda: leads(running, survivor), LEADER_S + SLACK_S)
        assert [task.result() for task in lost] == ["disconnected"] * 6
        assert [task.result().status for task in kept] == [200] * 4
        assert time.monotonic() - killed < 15
        assert set(running.workers.most_at_once().values()) == {1}
        assert {task.result().job for task in kept} <= set(running.made())
        await claims_still_move(running, survivor)
    assert victim.process.exit_code == -9
    assert survivor.process.exit_code == 0


def leader_first(running: Stack) -> list[Gateway]:
    """The gateways, the one that leads before the other."""
    return sorted(running.gateways, key=lambda gateway: not leads(running, gateway))


def leads(running: Stack, gateway: Gateway) -> bool:
    return bool(gateway.get("/admin/state")[1]["replica"] == rawstore.leader(running.store.url))


def held_by(running: Stack, replica: str, *states: str) -> list[str]:
    """Slots in the raw store that are still this replica's."""
    return [
        lease["state"]
        for lease in rawstore.leases(running.store.url).values()
        if lease["replica"] == replica and (not states or lease["state"] in states)
    ]


async def failing(client: Client, number: int) -> str:
    """What becomes of a request whose replica dies."""
    try:
        return str((await client.make(f"lost {number}", seed=number)).status)
    except aiohttp.ClientConnectionError:
        return "disconnected"


async def claims_still_move(running: Stack, survivor: Gateway) -> None:
    async with clients(survivor.url) as (client,):
        order = {"nodes": ["node-1"], "owner": "training", "reason": "a run", "grace_s": 1}
        opened = await client.admin("POST", "/admin/claims", json=order)
        assert opened.status == 201
        claim = f"/admin/claims/{opened.body['id']}"

        async def held() -> bool:
            return bool((await client.admin("GET", claim)).body["phase"] == "held")

        await until(held, 5)
        assert (await client.admin("DELETE", claim)).body["phase"] == "released"
