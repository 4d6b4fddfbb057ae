"""The official client, sync and async, against a whole replica."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.api.deployment import CLIENT, RIVAL, House

HARD = "a hill"


async def test_async_client(shared: House) -> None:
    async with AsyncOpenAI(base_url=f"{shared.url}/v1", api_key=CLIENT.text) as client:
        reply = await client.images.generate(
            prompt=HARD, model="dall-e-3", n=2, size="128x128", quality="high", extra_body={"seed": 5}
        )
        assert reply.data is not None
        assert [b64decode(image.b64_json or "")[:4] for image in reply.data] == [b"\x89PNG"] * 2
        facts: Any = (reply.model_extra or {})["spillover"]
        assert (facts["route"], facts["seed"]) == ("onprem", 5)
        models = [model.id async for model in client.models.list()]
        assert models == ["krea"]
        assert (await client.models.retrieve("dall-e-3")).id == "krea"


async def test_sync_client(shared: House) -> None:
    def made() -> tuple[Any, Any]:
        with OpenAI(base_url=f"{shared.url}/v1", api_key=CLIENT.text) as client:
            raw = client.images.with_raw_response.generate(prompt=HARD)
            return raw.parse(), raw.headers

    reply, headers = await asyncio.to_thread(made)
    assert reply.data[0].b64_json
    assert reply._request_id == headers["x-request-id"]
    assert headers["spillover-route"] == "onprem"


@pytest.mark.parametrize(
    ("fields", "key", "kind", "code"),
    [
        ({"prompt": ""}, CLIENT.text, openai.UnprocessableEntityError, "validation_error"),
        ({"prompt": HARD, "model": "kria"}, CLIENT.text, openai.NotFoundError, "model_not_found"),
        (
            {"prompt": HARD, "response_format": "url"},
            CLIENT.text,
            openai.BadRequestError,
            "unsupported_parameter",
        ),
        ({"prompt": HARD}, "nobody", openai.AuthenticationError, "unauthenticated"),
    ],
)
async def test_errors_have_the_clients_own_classes(
    shared: House, fields: Any, key: str, kind: type[openai.APIStatusError], code: str
) -> None:
    async with AsyncOpenAI(base_url=f"{shared.url}/v1", api_key=key) as client:
        with pytest.raises(kind) as caught:
            await client.images.generate(**fields)
    assert caught.value.code == code
    assert caught.value.request_id


async def test_a_failed_paid_attempt_is_not_repeated_by_the_client(small: House) -> None:
    await small.admin("PUT", "/admin/flags/pool/house", json={"reason": "a test"})
    await small.fal.set_faults({"kind": "submit_reply_lost", "times": -1})
    async with AsyncOpenAI(base_url=f"{small.url}/v1", api_key=CLIENT.text, max_retries=2) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            await client.images.generate(prompt=HARD, extra_headers={"Spillover-Deadline": "4"})
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert small.fal.billed_units() <= 1


async def test_the_client_waits_as_long_as_it_is_told(small: House) -> None:
    """House's prompts stay in the house: while its pool is off there is no capacity for them."""
    await small.admin("PUT", "/admin/flags/pool/house", json={"reason": "a test"})
    async with AsyncOpenAI(base_url=f"{small.url}/v1", api_key=RIVAL.text, max_retries=0) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            await client.images.generate(prompt=HARD)
    assert caught.value.code == "no_capacity"
    assert 1 <= int(caught.value.response.headers["retry-after"]) <= 120
