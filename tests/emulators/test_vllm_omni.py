"""The vLLM-Omni variant: leaving cancels, models must match, gauges tell the load."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest

from loadtests.emulators import Fleet, Speed, read_marks, sglang_workers


@pytest.fixture
async def omni(steady: Speed) -> AsyncIterator[Fleet]:
    async with sglang_workers(1, variant="vllm_omni", model="org/model", speed=steady) as fleet:
        yield fleet


async def test_the_official_client_generates(omni: Fleet) -> None:
    async with openai.AsyncOpenAI(base_url=f"{omni.urls[0]}/v1", api_key="none") as client:
        reply = await client.images.generate(
            model="org/model",
            prompt="a lake",
            size="64x64",  # type: ignore[arg-type]
            extra_body={"lora": {"name": "ink", "path": "org/ink", "scale": 0.8, "int_id": 1}},
        )
    assert read_marks(base64.b64decode((reply.data or [])[0].b64_json or ""))
    await omni.ledger.until(lambda rows: rows.count("delivered") == 1)


async def test_leaving_cancels_and_frees_the_slot_at_once(omni: Fleet, ask: Any) -> None:
    async with asyncio.TaskGroup() as group:
        call = group.create_task(ask(omni.urls[0], job="a"))
        await omni.ledger.until(lambda rows: rows.count("started") == 1)
        call.cancel()
    await omni.ledger.until(lambda rows: rows.count("cancelled") == 1)
    assert omni.workers[0].state()["running"] == 0
    assert (await ask(omni.urls[0], job="b")).status_code == 200
    assert [row["kind"] for row in omni.ledger.rows(job="a")] == ["received", "started", "cancelled"]


async def test_leaving_the_queue_means_never_starting(omni: Fleet, ask: Any) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(ask(omni.urls[0], job="a"))
        await omni.ledger.until(lambda rows: rows.count("started") == 1)
        waiting = group.create_task(ask(omni.urls[0], job="b"))
        await omni.ledger.until(lambda rows: rows.count("received") == 2)
        waiting.cancel()
        await omni.ledger.until(lambda rows: rows.count("cancelled", job="b") == 1)
        assert (await running).status_code == 200
    assert omni.ledger.count("started", job="b") == 0


async def test_the_gauges_count_running_and_waiting(omni: Fleet, ask: Any, http: httpx.AsyncClient) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(ask(omni.urls[0]))
        await omni.ledger.until(lambda rows: rows.count("received") == 3)
        text = (await http.get(f"{omni.urls[0]}/metrics")).text
    assert 'vllm:num_requests_running{model_name="org/model"} 1' in text
    assert 'vllm:num_requests_waiting{model_name="org/model"} 2' in text


async def test_another_model_and_a_url_are_refused(omni: Fleet, ask: Any) -> None:
    assert (await ask(omni.urls[0], model="other")).status_code == 400
    assert (await ask(omni.urls[0], response_format="url")).status_code == 400
    assert omni.ledger.count("received") == 0


async def test_what_this_server_does_not_have(omni: Fleet, http: httpx.AsyncClient) -> None:
    assert (await http.get(f"{omni.urls[0]}/stats")).status_code == 404
    assert (await http.post(f"{omni.urls[0]}/v1/set_lora", json={})).status_code == 404
    assert (await http.get(f"{omni.urls[0]}/health")).status_code == 200
    assert (await http.get(f"{omni.urls[0]}/v1/models")).json()["data"][0]["id"] == "org/model"


async def test_faults_work_here_too(omni: Fleet, ask: Any) -> None:
    await omni.set_faults({"kind": "oom"})
    assert (await ask(omni.urls[0])).status_code == 500
