"""SIGTERM under load: red at once, every accepted request answered, gone in time with nothing left behind."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from loadtests.emulators import Speed, prompt_mark
from tests.journeys import rawstore
from tests.journeys.client import Answered, Client, clients, until
from tests.journeys.deployment import PRIVATE
from tests.journeys.stack import stack

SLOW = Speed(fixed_s=0.8, per_step_mp_s=0.0)
GRACE_S, LIMIT_S = 1.0, 9.0
HURRY = {"Spillover-Deadline": "4"}
"""Too short to stand in the queue of this house, long enough for the provider."""


@dataclass
class Stream:
    """Requests that keep coming, each on its own connection, until nobody listens any more."""

    answers: list[tuple[float, Answered]] = field(default_factory=list)
    resets: list[tuple[float, str]] = field(default_factory=list)
    closed: bool = False

    async def flow(self, client: Client) -> None:
        async with asyncio.TaskGroup() as group:
            number = 0
            while not self.closed:
                group.create_task(self._one(client, number))
                number += 1
                await asyncio.sleep(0.15)

    async def _one(self, client: Client, number: int) -> None:
        sent, prompt = time.monotonic(), f"stream {number}"
        try:
            self.answers.append((sent, await client.make(prompt, HURRY, seed=number)))
        except aiohttp.ClientConnectorError:
            self.closed = True  # refused before a byte was sent: a load balancer asks another replica
        except aiohttp.ClientError:
            self.resets.append((sent, prompt))


@pytest.mark.chaos
async def test_every_accepted_request_is_answered(tmp_path: Path) -> None:
    with stack(
        tmp_path, workers=2, speed=SLOW, gateway__drain_grace_s=GRACE_S, gateway__drain_limit_s=LIMIT_S
    ) as running:
        gateway, stream = running.gateways[0], Stream()
        async with (
            clients(gateway.url, keep_alive=False) as (client,),
            clients(gateway.url, keep_alive=False, key=PRIVATE) as (private,),
            asyncio.TaskGroup() as group,
        ):
            # Far more than two workers make before the last call: these may not leave the house.
            queued = [group.create_task(private.make(f"queued {i}", seed=i)) for i in range(24)]
            await until(lambda: rawstore.waiting(running.store.url) == 22)
            flowing = group.create_task(stream.flow(client))
            await until(lambda: len(stream.answers) >= 2)

            gateway.process.send(signal.SIGTERM)
            asked = time.monotonic()
            await until(lambda: gateway.get("/readyz")[0] == 503, 1)
            assert gateway.get("/livez")[0] == 200
            await until(lambda: gateway.process.exit_code is not None, LIMIT_S + 2)
            gone = time.monotonic()
            stream.closed = True
            await flowing

        assert gateway.process.exit_code == 0
        assert gone - asked < LIMIT_S
        # What the kernel had not handed over when the listener closed, it resets; that is long after red.
        known = {row["prompt"] for row in running.workers.rows("received") + running.fal.rows("submitted")}
        assert len(stream.resets) <= 1
        for sent, prompt in stream.resets:
            assert sent - asked > GRACE_S
            assert prompt_mark(prompt) not in known
        for sent, answer in stream.answers:
            if sent - asked < GRACE_S - 0.2:
                assert answer.status == 200, answer
            else:
                assert (answer.status, answer.code) in ((200, ""), (503, "draining")), answer
        # What was queued was made, or refused in time for another replica: nothing was dropped.
        ends = [(task.result().status, task.result().code) for task in queued]
        assert set(ends) <= {(200, ""), (503, "draining")}
        assert {end[0] for end in ends} == {200, 503}
        assert rawstore.leases(running.store.url) == {}
        assert rawstore.waiting(running.store.url) == 0
        assert rawstore.paid_attempts(running.store.url) == 0
        jobs = [answer.job for _, answer in stream.answers if answer.status == 200]
        assert set(jobs) <= set(running.made())
