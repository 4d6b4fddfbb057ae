"""The official fal client, unchanged but for its addresses, works against the queue emulator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import fal_client
import fal_client.client
import httpx
import pytest

from loadtests.emulators import Fal, read_marks

APP = "fal-ai/flux/dev"
INPUT = {"prompt": "a lake", "image_size": {"width": 96, "height": 64}, "seed": 5, "output_format": "png"}


@pytest.fixture(autouse=True)
def point_the_client_here(fal: Fal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAL_KEY", "id:secret")
    monkeypatch.setattr(fal_client.client, "QUEUE_URL_FORMAT", f"{fal.url}/")
    monkeypatch.setattr(fal_client.client, "RUN_URL_FORMAT", f"{fal.url}/")


@pytest.fixture
async def client() -> AsyncIterator[fal_client.AsyncClient]:
    """The official client; it has no close of its own."""
    official = fal_client.AsyncClient()
    yield official
    await (await official._client).aclose()


async def test_the_async_client_submits_and_waits(
    fal: Fal, client: fal_client.AsyncClient, http: httpx.AsyncClient
) -> None:
    handle = await client.submit(APP, INPUT, headers={"Spillover-Attempt": "job-8.1;fence=4"})
    result = await handle.get()
    (image,) = result["images"]
    png = (await http.get(image["url"])).content
    assert (image["width"], image["height"], image["content_type"]) == (96, 64, "image/png")
    assert image["file_size"] == len(png)
    assert read_marks(png)["spillover-job"] == "job-8"
    assert result["seed"] == 5
    assert result["has_nsfw_concepts"] == [False]
    (bill,) = fal.ledger.rows("billed")
    assert (bill["job"], bill["units"], bill["app"]) == ("job-8", 1.0, APP)


async def test_the_sync_client_subscribes(fal: Fal) -> None:
    def use() -> Any:
        client = fal_client.SyncClient()
        try:
            return client.subscribe(APP, INPUT, with_logs=True)
        finally:
            client._client.close()

    result = await asyncio.to_thread(use)
    assert len(result["images"]) == 1


async def test_events_go_from_queued_to_completed(fal: Fal, client: fal_client.AsyncClient) -> None:
    await fal.set_faults({"kind": "queue_delay", "s": 0.15}, {"kind": "slow", "factor": 10})
    handle = await client.submit(APP, INPUT)
    seen = [event async for event in handle.iter_events(with_logs=True, interval=0.02)]
    kinds = [type(event) for event in seen]
    assert kinds[0] is fal_client.Queued
    assert kinds[-1] is fal_client.Completed
    assert fal_client.InProgress in kinds
    done = seen[-1]
    assert isinstance(done, fal_client.Completed)
    assert done.metrics["inference_time"] > 0
    assert done.logs
    assert done.error is None


async def test_status_and_result_by_id_use_the_short_path(fal: Fal, client: fal_client.AsyncClient) -> None:
    handle = await client.submit(APP, INPUT)
    await handle.get()
    assert isinstance(await client.status(APP, handle.request_id), fal_client.Completed)
    assert (await client.result(APP, handle.request_id))["prompt"] == "a lake"


async def test_cancelling_a_queued_request(fal: Fal, client: fal_client.AsyncClient) -> None:
    await fal.set_faults({"kind": "stuck_in_queue"})
    handle = await client.submit(APP, INPUT)
    await handle.cancel()
    assert fal.ledger.count("cancelled") == 1
    assert fal.ledger.count("billed") == 0


async def test_cancelling_a_finished_request_is_an_error(fal: Fal, client: fal_client.AsyncClient) -> None:
    handle = await client.submit(APP, INPUT)
    await handle.get()
    with pytest.raises(fal_client.client.FalClientHTTPError) as caught:
        await handle.cancel()
    assert caught.value.status_code == 400
    assert caught.value.response.json() == {"status": "ALREADY_COMPLETED"}


async def test_a_policy_refusal_reaches_the_caller(fal: Fal, client: fal_client.AsyncClient) -> None:
    await fal.set_faults({"kind": "content_policy"})
    handle = await client.submit(APP, INPUT)
    with pytest.raises(fal_client.client.FalClientHTTPError) as caught:
        await handle.get()
    assert caught.value.status_code == 422
    assert caught.value.response.json()["detail"][0]["type"] == "content_policy_violation"


async def test_a_start_timeout_is_504_and_not_retried(fal: Fal, client: fal_client.AsyncClient) -> None:
    await fal.set_faults({"kind": "stuck_in_queue"})
    handle = await client.submit(APP, INPUT, start_timeout=1.05)
    with pytest.raises(fal_client.client.FalClientHTTPError) as caught:
        await handle.get()
    assert (caught.value.status_code, caught.value.error_type) == (504, "request_timeout")


async def test_the_client_submits_again_after_a_lost_reply(fal: Fal, client: fal_client.AsyncClient) -> None:
    """Why the product does not use this client to spend money: one call, two paid generations."""
    await fal.set_faults({"kind": "submit_reply_lost", "times": 1})
    handle = await client.submit(APP, INPUT)
    await handle.get()
    await fal.ledger.until(lambda rows: rows.count("billed") == 2)
    assert fal.ledger.count("submitted") == 2


async def test_the_client_waits_out_a_rate_limit(fal: Fal, client: fal_client.AsyncClient) -> None:
    await fal.set_faults({"kind": "rate_limited", "times": 1})
    await (await client.submit(APP, INPUT)).get()
    assert fal.ledger.count("submitted") == 1
