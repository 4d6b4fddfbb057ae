"""Two replicas on one store: slots are never exceeded, and a replica that dies leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from loadtests.emulators import Speed, fal_queue, sglang_workers
from tests.serving.houses import FAST, House, deployment, replica, until

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def pair(redis_url: str, workers: int, speed: Speed = FAST) -> AsyncIterator[tuple[House, House]]:
    async with sglang_workers(workers, speed=speed) as fleet, fal_queue(speed=speed) as fal:
        document = deployment(redis_url, fleet.urls, fal.url)
        async with replica(document, fleet, fal, "r1") as one, replica(document, fleet, fal, "r2") as two:
            yield one, two


async def test_two_hundred_at_once_on_eight_slots(redis_url: str) -> None:
    async with pair(redis_url, 8) as (one, two):
        houses = [one, two] * 100
        answers = await asyncio.gather(*(home.make(home.ticket(30)) for home in houses))
        assert {answer.reason for answer in answers} == {"done"}
        assert sum(len(answer.images) for answer in answers) == 200
        for worker in one.fleet.workers:
            assert one.fleet.ledger.max_running(worker.name) <= 1, worker.name
        onprem = sum(answer.route == "onprem" for answer in answers)
        assert one.fleet.ledger.count("delivered") == onprem
        await until(lambda: not one.parts.lookout.pictures["onprem"].leases)


async def test_a_slot_freed_by_one_replica_is_offered_to_the_other(redis_url: str) -> None:
    async with pair(redis_url, 1, Speed(fixed_s=0.4, per_step_mp_s=0)) as (one, two):
        first = asyncio.ensure_future(one.make(one.ticket(20)))
        await one.fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
        second = asyncio.ensure_future(two.make(two.ticket(20)))
        answers = await asyncio.gather(first, second)
        assert [answer.route for answer in answers] == ["onprem", "onprem"]
        gap = one.fleet.ledger.rows("started")[1]["at"] - one.fleet.ledger.rows("finished")[0]["at"]
        assert gap < 0.3, "the freed slot was waited for, not told of"


async def test_a_listener_who_leaves_frees_the_slot_when_the_worker_ends(redis_url: str) -> None:
    async with pair(redis_url, 1, Speed(fixed_s=1.0, per_step_mp_s=0)) as (one, two):
        run = one.parts.desk.submit(one.ticket(20))
        assert run is not None
        await one.fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
        run.left()
        await until(lambda: states(two) == ["ghost"])
        answer = await two.make(two.ticket(20))
        assert answer.reason == "done"
        starts = one.fleet.ledger.rows("started")
        assert one.fleet.ledger.max_running("worker-0") == 1
        if answer.route == "onprem":
            assert starts[1]["at"] >= one.fleet.ledger.rows("undelivered")[0]["at"]
        await until(lambda: not states(two))


async def test_a_joinable_run_goes_on_for_its_twin(redis_url: str) -> None:
    async with pair(redis_url, 1, Speed(fixed_s=0.5, per_step_mp_s=0)) as (one, _two):
        run = one.parts.desk.submit(one.ticket(20, joinable=True), twin="key")
        assert run is not None
        await one.fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
        run.left()
        twin = one.parts.desk.twin_of("key")
        assert twin is run
        assert (await twin.answer()).done
        assert one.fleet.ledger.count("started") == 1


def states(home: House) -> list[str]:
    return [lease.state for lease in home.parts.lookout.pictures["onprem"].leases]
