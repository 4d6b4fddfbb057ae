"""A client closes its connection: seen at once; a slot is free only when its work is known to have ended."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from loadtests.emulators import Speed
from tests.journeys import rawstore
from tests.journeys.client import Client, clients, until
from tests.journeys.deployment import HOUSE
from tests.journeys.stack import Stack, stack

SEEN_S = 1.0
SLOW = Speed(fixed_s=2.5, per_step_mp_s=0.0)
VERY_SLOW = Speed(fixed_s=8.0, per_step_mp_s=0.0)


async def begun(running: Stack, prompt: str) -> asyncio.StreamWriter:
    """A request whose connection the test holds in its hand."""
    address = urlsplit(running.urls[0])
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    body = json.dumps({"prompt": prompt, "size": "64x64"})
    head = [
        "POST /v1/images/generations HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {HOUSE.text}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    writer.write("\r\n".join([*head, "", body]).encode())
    await writer.drain()
    return writer


async def leave(writer: asyncio.StreamWriter) -> float:
    """Closes the connection; returns the moment."""
    writer.close()
    await writer.wait_closed()
    return time.monotonic()


def states(running: Stack) -> list[str]:
    return [lease["state"] for lease in rawstore.leases(running.store.url).values()]


async def in_flight(client: Client) -> int:
    return int((await client.state())["in_flight"])


async def nobody_in_flight(client: Client) -> bool:
    return await in_flight(client) == 0


async def all_settled(client: Client, usd: float) -> bool:
    (account,) = (await client.state())["accounts"]
    return (account["held_usd"], account["spent_usd"]) == (0, pytest.approx(usd))


async def test_a_worker_that_cannot_cancel_keeps_its_slot_until_it_has_ended(tmp_path: Path) -> None:
    with stack(tmp_path, workers=1, speed=SLOW) as running:
        async with clients(running.urls[0]) as (client,):
            leaver = await begun(running, "abandoned")
            await until(lambda: running.workers.count("started") == 1)
            await leave(leaver)
            await until(lambda: nobody_in_flight(client), SEEN_S)
            await until(lambda: states(running) == ["ghost"], SEEN_S)
            assert running.workers.count("finished") == 0
            next_one = asyncio.ensure_future(client.make("next", {"Spillover-Deadline": "20"}))
            await until(lambda: not states(running) or states(running) == ["leased"], 8)
            freed = time.monotonic()
            (over,) = running.workers.rows("finished")[:1]
            assert over["at"] < freed < over["at"] + 2.5
            assert (await next_one).status == 200
        # The worker itself never saw two at once, so the slot was not given away before.
        assert running.workers.most_at_once() == {"w-0": 1}
        assert running.fal.rows() == []


async def test_a_worker_that_cancels_is_free_at_once(tmp_path: Path) -> None:
    with stack(tmp_path, workers=1, speed=VERY_SLOW, server="vllm_omni") as running:
        leaver = await begun(running, "abandoned")
        await until(lambda: running.workers.count("started") == 1)
        left = await leave(leaver)
        await until(lambda: running.workers.count("cancelled") == 1, SEEN_S)
        assert running.workers.rows("cancelled")[0]["at"] - left < SEEN_S
        await until(lambda: states(running) == [], left + 2 - time.monotonic())


async def test_who_leaves_the_queue_leaves_no_place_behind(tmp_path: Path) -> None:
    with stack(tmp_path, workers=1, speed=SLOW) as running:
        async with clients(running.urls[0]) as (client,):
            first = asyncio.ensure_future(client.make("first"))
            await until(lambda: running.workers.count("started") == 1)
            leaver = await begun(running, "queued")
            await until(lambda: rawstore.waiting(running.store.url) == 1)
            left = await leave(leaver)
            await until(lambda: rawstore.waiting(running.store.url) == 0, left + SEEN_S - time.monotonic())
            assert (await first).status == 200
            await until(lambda: nobody_in_flight(client))
        assert running.workers.count("received") == 1
        assert running.fal.rows() == []


async def test_paid_work_runs_to_its_end(tmp_path: Path) -> None:
    with stack(tmp_path, workers=1, fal_speed=SLOW) as running:
        async with clients(running.urls[0]) as (client,):
            flag = await client.admin("PUT", "/admin/flags/pool/onprem", json={"reason": "a test"})
            assert flag.status == 200
            leaver = await begun(running, "abroad")
            await until(lambda: running.fal.count("started") == 1)
            await leave(leaver)
            await until(lambda: running.fal.count("billed") == 1)
            await until(lambda: nobody_in_flight(client))
            await until(lambda: rawstore.paid_attempts(running.store.url) == 0)
            await until(lambda: all_settled(client, 0.03))
        assert running.fal.count("cancelled") == 0
