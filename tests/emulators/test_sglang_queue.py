"""One queue, in order, deaf to disconnects; `/stats` answers only when everything before it has ended."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import httpx

from loadtests.emulators import Fleet, Speed, sglang_workers


async def leave(fleet: Fleet, ask: Any, prompt: str, job: str) -> None:
    """Send a generation and disconnect as soon as it is computing."""
    started = fleet.ledger.count("started")
    async with asyncio.TaskGroup() as group:
        call = group.create_task(ask(fleet.urls[0], prompt, job=job))
        await fleet.ledger.until(lambda rows: rows.count("started") > started)
        call.cancel()


async def test_work_goes_on_after_a_disconnect(slow_fleet: Fleet, ask: Any) -> None:
    await leave(slow_fleet, ask, "abandoned", "a")
    assert slow_fleet.ledger.count("finished") == 0
    await slow_fleet.ledger.until(lambda rows: rows.count("undelivered") == 1)
    kinds = [row["kind"] for row in slow_fleet.ledger.rows(job="a")]
    assert kinds == ["received", "started", "finished", "undelivered"]


async def test_the_barrier_waits_for_abandoned_work(
    slow_fleet: Fleet, ask: Any, http: httpx.AsyncClient
) -> None:
    await leave(slow_fleet, ask, "abandoned", "a")
    assert (await http.get(f"{slow_fleet.urls[0]}/health")).status_code == 200
    assert slow_fleet.ledger.count("finished") == 0
    assert (await http.get(f"{slow_fleet.urls[0]}/stats")).json()["status"] == "ok"
    assert slow_fleet.ledger.count("finished") == 1


async def test_the_barrier_does_not_wait_for_later_work(
    slow_fleet: Fleet, ask: Any, http: httpx.AsyncClient
) -> None:
    await leave(slow_fleet, ask, "first", "a")
    async with asyncio.TaskGroup() as group:
        barrier = group.create_task(http.get(f"{slow_fleet.urls[0]}/stats"))
        later = group.create_task(ask(slow_fleet.urls[0], "later", job="b"))
        await barrier
        assert not later.done()
    assert slow_fleet.ledger.count("finished") == 2


async def test_one_slot_never_runs_two_and_keeps_the_order(fleet: Fleet, ask: Any) -> None:
    jobs = [f"j{number}" for number in range(6)]
    async with asyncio.TaskGroup() as group:
        for place, job in enumerate(jobs):
            group.create_task(ask(fleet.urls[0], job, job=job))
            await fleet.ledger.until(lambda rows, place=place: rows.count("received") == place + 1)
    assert [row["job"] for row in fleet.ledger.rows("started")] == jobs
    assert fleet.ledger.max_running("worker-0") == 1
    assert {row["running"] for row in fleet.ledger.rows("started")} == {1}
    await fleet.ledger.until(lambda rows: rows.count("delivered") == 6)


async def test_two_slots_run_two(steady: Speed, ask: Any, http: httpx.AsyncClient) -> None:
    async with sglang_workers(1, slots=2, speed=steady) as fleet:
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(ask(fleet.urls[0], f"p{number}"))
            await fleet.ledger.until(lambda rows: rows.count("received") == 4)
            await http.get(f"{fleet.urls[0]}/stats")
            assert fleet.ledger.count("finished") == 4
        assert fleet.ledger.max_running("worker-0") == 2


async def test_an_adapter_is_set_in_turn(slow_fleet: Fleet, ask: Any, http: httpx.AsyncClient) -> None:
    await leave(slow_fleet, ask, "first", "a")
    await http.post(
        f"{slow_fleet.urls[0]}/v1/set_lora", json={"lora_nickname": "ink", "lora_path": "org/ink"}
    )
    kinds = [row["kind"] for row in slow_fleet.ledger.rows("finished", "lora_set")]
    assert kinds == ["finished", "lora_set"]


async def test_workers_share_a_ledger_but_not_a_queue(steady: Speed, ask: Any) -> None:
    async with sglang_workers(3, speed=steady) as fleet:
        async with asyncio.TaskGroup() as group:
            for url in fleet.urls:
                group.create_task(ask(url))
            await fleet.ledger.until(lambda rows: rows.count("started") == 3)
            assert fleet.ledger.count("finished") == 0
        assert {row["worker"] for row in fleet.ledger.rows("finished")} == {f"worker-{n}" for n in range(3)}


async def test_stopping_with_work_in_flight_is_clean(steady: Speed, ask: Any) -> None:
    async with asyncio.TaskGroup() as group, sglang_workers(1, speed=steady) as fleet:
        group.create_task(swallow(ask(fleet.urls[0])))
        group.create_task(swallow(ask(fleet.urls[0])))
        await fleet.ledger.until(lambda rows: rows.count("received") == 2)


async def swallow(call: Any) -> None:
    with contextlib.suppress(httpx.TransportError):
        await call
