"""The official OpenAI client against a real gateway process."""

from __future__ import annotations

import asyncio
import base64

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types import ImagesResponse

from loadtests.emulators import prompt_mark, read_marks
from tests.journeys.deployment import ADMIN, HOUSE, MODEL
from tests.journeys.stack import Stack


def marks_of(*replies: ImagesResponse) -> list[dict[str, str]]:
    """What is written inside each image; raises if one is not a whole PNG."""
    images = [image for reply in replies for image in reply.data or ()]
    return [read_marks(base64.b64decode(image.b64_json or "")) for image in images]


def test_one_image(calm: Stack) -> None:
    with OpenAI(base_url=calm.urls[0] + "/v1", api_key=HOUSE.text, max_retries=0) as client:
        reply = client.images.generate(model=MODEL, prompt="a lighthouse", size="64x64")
    (marks,) = marks_of(reply)
    assert marks["spillover-prompt"] == prompt_mark("a lighthouse")
    assert reply._request_id
    facts = (reply.model_extra or {})["spillover"]
    assert (facts["route"], facts["pool"], facts["attempts"], facts["cost_usd"]) == ("onprem", "onprem", 1, 0)
    assert facts["job_id"] == marks["spillover-job"]


def test_extensions_at_the_top_level(calm: Stack) -> None:
    with OpenAI(base_url=calm.urls[0] + "/v1", api_key=HOUSE.text, max_retries=0) as client:
        reply = client.images.generate(
            prompt="two boats",
            n=2,
            size="64x128",
            user="somebody",
            extra_body={"seed": 7, "steps": 3, "guidance_scale": 2.5},
        )
    marks = marks_of(reply)
    assert [mark["spillover-seed"] for mark in marks] == ["7", "8"]
    (row,) = calm.workers.rows("received", job=marks[0]["spillover-job"])
    assert (row["steps"], row["width"], row["height"], row["count"]) == (3, 64, 128, 2)


async def test_many_at_once(calm: Stack) -> None:
    async with AsyncOpenAI(base_url=calm.urls[0] + "/v1", api_key=HOUSE.text, max_retries=0) as client:
        replies = await asyncio.gather(
            *(
                client.images.generate(prompt=f"boat {i}", size="64x64", extra_body={"seed": i})
                for i in range(12)
            )
        )
    found = marks_of(*replies)
    assert [mark["spillover-seed"] for mark in found] == [str(i) for i in range(12)]
    assert len({mark["spillover-job"] for mark in found}) == 12


def test_its_list_of_models(calm: Stack) -> None:
    with OpenAI(base_url=calm.urls[0] + "/v1", api_key=HOUSE.text, max_retries=0) as client:
        assert [model.id for model in client.models.list()] == [MODEL]
        assert client.models.retrieve(MODEL).id == MODEL


@pytest.mark.parametrize(
    ("key", "fields", "error", "code"),
    [
        ("sk-nobody", {}, openai.AuthenticationError, "unauthenticated"),
        (ADMIN.text, {}, openai.PermissionDeniedError, "forbidden"),
        (HOUSE.text, {"model": "no-such-model"}, openai.NotFoundError, "model_not_found"),
        (HOUSE.text, {"size": "7x7"}, openai.UnprocessableEntityError, "validation_error"),
        (HOUSE.text, {"extra_body": {"sead": 7}}, openai.UnprocessableEntityError, "validation_error"),
        (HOUSE.text, {"stream": True}, openai.BadRequestError, "unsupported_parameter"),
        (HOUSE.text, {"response_format": "url"}, openai.BadRequestError, "unsupported_parameter"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.islower() else "",
)
def test_its_errors(
    calm: Stack, key: str, fields: dict[str, object], error: type[openai.APIStatusError], code: str
) -> None:
    before = calm.workers.count("received")
    with OpenAI(base_url=calm.urls[0] + "/v1", api_key=key) as client, pytest.raises(error) as raised:
        client.images.generate(prompt="a hill", **fields)  # type: ignore[call-overload]
    assert raised.value.code == code
    assert raised.value.request_id
    assert calm.workers.count("received") == before
