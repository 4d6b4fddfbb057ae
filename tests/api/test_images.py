"""Making images over HTTP, with every routing fact where clients look for it."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest

from tests.api.deployment import CLIENT, METRICS, RIVAL, House, back_ends, bearer, document, house


async def test_an_image_comes_with_its_facts(shared: House) -> None:
    reply = await shared.make(seed=7, user="u-1", quality="auto")
    body, headers = reply.json(), reply.headers
    facts = body["spillover"]
    assert reply.status_code == 200
    assert b64decode(body["data"][0]["b64_json"]).startswith(b"\x89PNG")
    assert (body["output_format"], body["size"], "usage" in body) == ("png", "64x64", False)
    assert abs(body["created"] - shared.replica.parts.gate.clock.now()) < 10
    assert (facts["route"], facts["pool"], facts["attempts"]) == ("onprem", "house", 1)
    assert (facts["reason"], facts["cost_usd"], facts["seed"]) == ("onprem", 0.0, 7)
    assert facts["run_ms"] > 0
    assert headers["x-request-id"] == facts["request_id"]
    assert headers["spillover-job-id"] == facts["job_id"]
    assert headers["spillover-route"] == "onprem"
    assert headers["spillover-pool"] == "house"
    assert headers["spillover-attempts"] == "1"
    assert headers["spillover-reason"] == "onprem"
    assert headers["spillover-ignored"] == "user, quality"
    assert headers["server-timing"].startswith("queue;dur=")
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


async def test_the_promise_of_each_class_can_be_watched(shared: House) -> None:
    name = next(iter(shared.replica.parts.gate.config.classes))
    reply = await shared.http.post(
        "/v1/images/generations",
        json={"prompt": "a pier", "size": "64x64"},
        headers={**bearer(CLIENT), "Spillover-Class": name},
    )
    assert reply.status_code == 200
    text = (await shared.http.get("/metrics", headers=bearer(METRICS))).text
    counts = [
        line for line in text.splitlines() if line.startswith("spillover_request_duration_seconds_count")
    ]
    assert any(f'class="{name}"' in line for line in counts)


async def test_several_images_in_another_format(shared: House) -> None:
    reply = await shared.make(n=3, output_format="webp", size="128x64")
    images = [b64decode(item["b64_json"]) for item in reply.json()["data"]]
    assert [image[8:12] for image in images] == [b"WEBP"] * 3
    assert len(set(images)) == 3


async def test_what_spills_says_why_and_what_it_cost(small: House) -> None:
    await switch_off(small, "pool", "house")
    reply = await small.make()
    facts = reply.json()["spillover"]
    assert reply.status_code == 200
    assert (facts["route"], facts["pool"], facts["cost_usd"]) == ("external", "fal", 0.03)
    assert facts["reason"].startswith("onprem_")
    assert reply.headers["spillover-reason"] == facts["reason"]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("my-Trace_01", True), ("a" * 64, True), ("a" * 65, False), ("", False), ("a b", False), ("ü", False)],
)
async def test_a_harmless_request_id_is_kept(shared: House, sent: str, kept: bool) -> None:
    reply = await shared.make(headers={"X-Request-Id": sent.encode()})
    other = await shared.http.get("/livez", headers={"X-Request-Id": sent.encode()})
    for found in (reply.headers["x-request-id"], other.headers["x-request-id"]):
        assert (found == sent) is kept
        assert kept or found.startswith("req_")


async def test_a_request_without_a_content_type_is_read(shared: House) -> None:
    reply = await shared.http.post(
        "/v1/images/generations", content=b'{"prompt": "a hill"}', headers=bearer(CLIENT)
    )
    assert reply.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Content-Type": "text/plain"}, {"Content-Type": "multipart/form-data"}, {"Content-Encoding": "gzip"}],
)
async def test_anything_but_plain_json_is_refused(shared: House, headers: dict[str, str]) -> None:
    reply = await shared.make(headers=headers)
    assert (reply.status_code, code(reply)) == (415, "unsupported_media_type")


async def test_other_methods_are_refused(shared: House) -> None:
    reply = await shared.http.get("/v1/images/generations")
    assert (reply.status_code, code(reply), reply.headers["allow"]) == (405, "method_not_allowed", "POST")


@pytest.mark.parametrize(
    ("fields", "status", "wanted"),
    [
        ({"prompt": ""}, 422, "validation_error"),
        ({"model": "kria"}, 404, "model_not_found"),
        ({"stream": True}, 400, "unsupported_parameter"),
        ({"headers": {"Spillover-Deadline": "nan"}}, 422, "validation_error"),
        ({"headers": {"Spillover-Class": "x"}}, 422, "validation_error"),
    ],
)
async def test_wrong_requests_cost_nothing(
    shared: House, fields: dict[str, Any], status: int, wanted: str
) -> None:
    before = shared.fleet.ledger.count("started")
    reply = await shared.make(**fields)
    assert (reply.status_code, code(reply)) == (status, wanted)
    assert reply.headers["x-should-retry"] == "false"
    assert shared.fleet.ledger.count("started") == before


async def test_a_parameter_nobody_can_honour_is_named(redis_url: str) -> None:
    async with back_ends(workers=1) as (fleet, fal):
        content = document(redis_url, fleet.urls, fal.url)
        content["pools"]["house"]["settings"] = {"server": "openai"}
        async with house(content, fleet, fal) as running:
            reply = await running.make(negative_prompt="fog")
    assert (reply.status_code, code(reply)) == (400, "unsupported_parameter")
    assert reply.json()["error"]["param"] == "negative_prompt"


async def test_nothing_on_prem_and_nobody_to_pay(small: House) -> None:
    await switch_off(small, "pool", "house")
    reply = await small.make(key=RIVAL, headers={"Spillover-Class": "hasty"})
    assert (reply.status_code, code(reply)) == (503, "no_capacity")
    assert 1 <= int(reply.headers["retry-after"]) <= 120
    assert "x-should-retry" not in reply.headers
    assert reply.headers["spillover-job-id"] == reply.json()["error"]["job_id"]


async def test_a_model_that_is_switched_off(small: House) -> None:
    await switch_off(small, "model", "krea")
    await small.until(lambda: answers(small, "model_off"))
    reply = await small.make()
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "30")


async def test_every_attempt_fails(small: House) -> None:
    await small.fleet.set_faults({"kind": "error500", "times": -1})
    await switch_off(small, "overflow", "overflow")
    reply = await small.make()
    assert (reply.status_code, reply.json().get("error", reply.headers)["code"]) == (502, "upstream_error")
    assert reply.headers["x-should-retry"] == "false"
    assert int(reply.headers["spillover-attempts"]) >= 1
    assert "returned no output" not in reply.text


async def test_a_policy_refusal_is_final(small: House) -> None:
    await switch_off(small, "pool", "house")
    await small.fal.set_faults({"kind": "content_policy", "times": -1})
    reply = await small.make()
    assert (reply.status_code, code(reply)) == (422, "content_policy")
    assert reply.headers["x-should-retry"] == "false"
    assert reply.headers["spillover-route"] == "external"


async def test_a_deadline_passes(slow: House) -> None:
    await switch_off(slow, "overflow", "overflow")
    reply = await slow.make(headers={"Spillover-Deadline": "0.4"})
    assert (reply.status_code, code(reply)) == (504, "deadline_exceeded")
    assert reply.headers["x-should-retry"] == "false"


async def answers(house: House, wanted: str) -> bool:
    reply = await house.make()
    return reply.status_code != 200 and code(reply) == wanted


async def switch_off(house: House, kind: str, name: str) -> None:
    reply = await house.admin("PUT", f"/admin/flags/{kind}/{name}", json={"reason": "a test"})
    assert reply.status_code == 200, reply.text


def code(reply: Any) -> str:
    return str(reply.json()["error"]["code"])
