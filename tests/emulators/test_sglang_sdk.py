"""The official OpenAI client, unchanged, gets its pictures from the worker emulator."""

from __future__ import annotations

import asyncio
import base64
import io

import openai
import pytest
from PIL import Image

from loadtests.emulators import Fleet, read_marks

EXTRA = {"num_inference_steps": 4, "seed": 11, "guidance_scale": 3.5, "output_format": "png"}


async def test_the_async_client_generates(fleet: Fleet) -> None:
    async with openai.AsyncOpenAI(base_url=f"{fleet.urls[0]}/v1", api_key="none") as client:
        reply = await client.images.generate(
            prompt="a lake",
            n=2,
            size="96x64",  # type: ignore[arg-type]
            response_format="b64_json",
            extra_body=EXTRA,
            extra_headers={"Spillover-Attempt": "job-5.1;fence=42"},
        )
    pictures = [base64.b64decode(image.b64_json or "") for image in reply.data or []]
    assert [read_marks(png)["spillover-seed"] for png in pictures] == ["11", "12"]
    assert {read_marks(png)["spillover-job"] for png in pictures} == {"job-5"}
    with Image.open(io.BytesIO(pictures[0])) as image:
        assert image.size == (96, 64)
    await fleet.ledger.until(lambda rows: rows.count("delivered") == 1)
    (row,) = fleet.ledger.rows("delivered")
    assert (row["attempt"], row["job"], row["fence"]) == ("job-5.1;fence=42", "job-5", 42)


async def test_the_sync_client_generates_and_lists_models(fleet: Fleet) -> None:
    def use() -> tuple[str, str, int]:
        with openai.OpenAI(base_url=f"{fleet.urls[0]}/v1", api_key="none") as client:
            reply = client.images.generate(
                prompt="a lake", response_format="b64_json", extra_body={**EXTRA, "width": 64, "height": 64}
            )
            models = client.models.list().data
            data = reply.data or []
            return models[0].id, data[0].b64_json or "", reply.created

    model, picture, created = await asyncio.to_thread(use)
    assert model == fleet.workers[0].settings.model
    assert read_marks(base64.b64decode(picture))["spillover-job"] == ""
    assert created > 1_700_000_000


async def test_the_client_sees_a_url_request_as_bad(fleet: Fleet) -> None:
    async with openai.AsyncOpenAI(base_url=f"{fleet.urls[0]}/v1", api_key="none") as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.images.generate(prompt="p", response_format="url", extra_body={"size": "64x64"})
        assert "cloud storage" in caught.value.response.json()["detail"]


async def test_the_client_retries_a_failed_generation(fleet: Fleet) -> None:
    """Why a gateway must expect a second copy of a request: the SDK posts again by itself."""
    await fleet.set_faults({"kind": "oom", "times": 1})
    async with openai.AsyncOpenAI(base_url=f"{fleet.urls[0]}/v1", api_key="none") as client:
        await client.images.generate(
            prompt="p", response_format="b64_json", extra_body={"size": "64x64", "output_format": "png"}
        )
    assert fleet.ledger.count("received") == 2
    assert fleet.ledger.count("failed") == 1
