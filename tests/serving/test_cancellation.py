"""Tickets given up at any moment leave nothing behind: no lease, no place, no hold, no task."""

from __future__ import annotations

import asyncio
import os
import random
import signal

import pytest
import redis

from loadtests.emulators import Speed
from router.store import keys
from tests.conftest import Valkey
from tests.serving.houses import House, house, until

pytestmark = pytest.mark.anyio

QUICK = Speed(fixed_s=0.08, per_step_mp_s=0.0)
PROFILE = {"models__krea-2-turbo__profile": {"fixed_s": 0.08, "per_step_mp_s": 0.001, "spread": 0.3}}


def left_behind(redis_url: str) -> dict[str, int]:
    """What a raw look into the store finds of tickets."""
    table = dict(zip(keys.POOL, keys.pool("onprem"), strict=True))
    with redis.Redis.from_url(redis_url) as client:
        found = {
            "leases": client.hlen(table["leases"]),
            "slots": client.zcard(table["slots"]),
            "queue": client.zcard(table["queue"]),
            "tickets": client.hlen(table["tickets"]),
            "offers": client.zcard(table["offers"]),
            "intents": client.hlen(keys.money("intents")),
        }
    return {name: count for name, count in found.items() if count}


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_given_up_at_random_moments(redis_url: str, seed: int) -> None:
    dice = random.Random(seed)
    async with house(redis_url, 4, QUICK, pools__fal__concurrency=3, **PROFILE) as home:
        await asyncio.gather(*(give_up(home, dice.uniform(0, 0.4), dice.uniform(0, 1.5)) for _ in range(120)))
        await until(lambda: len(home.parts.desk) == 0, 15)
        await until(lambda: not left_behind(redis_url), 15)
        assert (await home.make(home.ticket(10))).done
        for worker in home.fleet.workers:
            assert home.fleet.ledger.max_running(worker.name) <= 1


async def test_what_a_frozen_store_carries_out_late_is_given_back(own_valkey: Valkey) -> None:
    """It reads, once it runs again, what it was sent while it stood still: by then nobody waits for it."""
    long = {"leases__lease_s": 60.0, "leases__renew_s": 20.0}
    async with house(own_valkey.url, 2, QUICK, **PROFILE, **long) as home:
        assert (await home.make(home.ticket())).done  # the server knows the script from here on
        os.kill(own_valkey.pid, signal.SIGSTOP)
        try:
            answers = await asyncio.gather(*(home.make(home.ticket(30)) for _ in range(6)))
            await asyncio.sleep(2.5)  # long enough that giving back fails once as well
        finally:
            os.kill(own_valkey.pid, signal.SIGCONT)
        assert {answer.reason for answer in answers} == {"state_store_unavailable"}
        await until(lambda: not left_behind(own_valkey.url), 8)
        assert home.fleet.ledger.count("started") == 1


async def give_up(home: House, after_s: float, start_s: float) -> None:
    await asyncio.sleep(start_s)  # the moment is the subject of the test
    run = home.parts.desk.submit(home.ticket(6.0))
    assert run is not None
    try:
        async with asyncio.timeout(after_s):
            await run.answer()
    except TimeoutError:
        run.left()
