"""The wire format of the queue: receipts, positions, statuses, cancelling, timeouts, media."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from loadtests.emulators import App, Fal, Speed, fal_queue


async def done(http: httpx.AsyncClient, receipt: dict[str, Any]) -> dict[str, Any]:
    """The last status of a request, followed over its event stream."""
    last: dict[str, Any] = {}
    async with http.stream("GET", receipt["status_url"] + "/stream") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                last = json.loads(line.removeprefix("data: "))
    return last


@pytest.mark.parametrize("header", [None, "Bearer x", "Key"])
async def test_a_key_is_needed_everywhere(
    fal: Fal, http: httpx.AsyncClient, submit: Any, header: str
) -> None:
    receipt = (await submit(fal)).json()
    headers = {} if header is None else {"Authorization": header}
    replies = [
        await http.post(f"{fal.url}/fal-ai/flux/dev", json={"prompt": "p"}, headers=headers),
        await http.get(receipt["status_url"], headers=headers),
        await http.get(receipt["response_url"], headers=headers),
        await http.put(receipt["cancel_url"], headers=headers),
    ]
    assert [reply.status_code for reply in replies] == [401] * 4
    assert fal.ledger.count("submitted") == 1


async def test_only_known_keys_if_they_are_configured(quick: Speed, http: httpx.AsyncClient) -> None:
    async with fal_queue(speed=quick, keys=frozenset({"right"})) as fal:
        url, body = f"{fal.url}/fal-ai/flux/dev", {"prompt": "p"}
        assert (await http.post(url, json=body, headers={"Authorization": "Key wrong"})).status_code == 401
        assert (await http.post(url, json=body, headers={"Authorization": "Key right"})).status_code == 200


async def test_a_receipt_drops_the_sub_path(fal: Fal, submit: Any) -> None:
    reply = await submit(fal)
    receipt = reply.json()
    base = f"{fal.url}/fal-ai/flux/requests/{receipt['request_id']}"
    assert receipt["response_url"] == base
    assert receipt["status_url"] == f"{base}/status"
    assert receipt["cancel_url"] == f"{base}/cancel"
    assert (receipt["status"], receipt["queue_position"]) == ("IN_QUEUE", 0)
    assert reply.headers["x-fal-request-id"] == receipt["request_id"]


async def test_unknown_apps_and_requests_are_404(fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    assert (await submit(fal, app="fal-ai/unknown")).status_code == 404
    assert (await submit(fal, app="fal-ai/flux")).status_code == 404
    missing = f"{fal.url}/fal-ai/flux/requests/none"
    assert (await key_http.get(missing)).status_code == 404
    assert (await key_http.get(missing + "/status")).status_code == 404
    cancel = await key_http.put(missing + "/cancel")
    assert (cancel.status_code, cancel.json()) == (404, {"status": "NOT_FOUND"})


async def test_other_apps_can_be_served(quick: Speed, submit: Any, key_http: httpx.AsyncClient) -> None:
    async with fal_queue(speed=quick, apps=(App("me/thing", unit="images"),)) as fal:
        receipt = (await submit(fal, app="me/thing", num_images=3)).json()
        assert (await done(key_http, receipt))["status"] == "COMPLETED"
        assert fal.billed_units() == 3


async def test_positions_count_down_and_codes_follow(
    slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient
) -> None:
    await slow_fal.set_faults({"kind": "stuck_in_progress"})
    receipts = []
    for number in range(3):
        receipts.append((await submit(slow_fal, f"p{number}")).json())
        await slow_fal.ledger.until(lambda rows: rows.count("started") == 1)
    replies = [await key_http.get(receipt["status_url"]) for receipt in receipts]
    assert [reply.status_code for reply in replies] == [202, 202, 202]
    statuses = [reply.json() for reply in replies]
    assert [status["status"] for status in statuses] == ["IN_PROGRESS", "IN_QUEUE", "IN_QUEUE"]
    assert [status.get("queue_position") for status in statuses] == [None, 0, 1]
    assert statuses[0]["logs"] is None
    await slow_fal.set_faults()
    await done(key_http, receipts[2])
    last = await key_http.get(receipts[2]["status_url"], params={"logs": "1"})
    assert last.status_code == 200
    assert last.json()["logs"][0]["message"]
    assert slow_fal.ledger.max_running("fal") == 1


async def test_the_stream_shows_each_status_once(
    slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient
) -> None:
    await slow_fal.set_faults({"kind": "queue_delay", "s": 0.2})
    receipt = (await submit(slow_fal)).json()
    async with key_http.stream("GET", receipt["status_url"] + "/stream") as stream:
        lines = [line.removeprefix("data: ") async for line in stream.aiter_lines() if line]
    seen = [json.loads(line)["status"] for line in lines]
    assert seen == ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]


async def test_a_result_before_its_time_is_400(
    slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient
) -> None:
    receipt = (await submit(slow_fal)).json()
    assert (await key_http.get(receipt["response_url"])).status_code == 400


async def test_cancel_in_each_state(slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    running, queued = (await submit(slow_fal, "one")).json(), (await submit(slow_fal, "two")).json()
    await slow_fal.ledger.until(lambda rows: rows.count("started") == 1)
    first = await key_http.put(queued["cancel_url"])
    assert (first.status_code, first.json()["status"]) == (200, "OK")
    second = await key_http.put(running["cancel_url"])
    assert (second.status_code, second.json()["status"]) == (202, "CANCELLATION_REQUESTED")
    third = await key_http.put(running["cancel_url"])
    assert (third.status_code, third.json()["status"]) == (400, "ALREADY_COMPLETED")
    result = await key_http.get(running["response_url"])
    assert (result.status_code, result.json()["error_type"]) == (499, "client_cancelled")
    assert slow_fal.ledger.count("started") == 1
    assert slow_fal.billed_units() == 0


async def test_a_start_timeout_ends_a_waiting_request(
    slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient
) -> None:
    await submit(slow_fal, "first")
    late = (await submit(slow_fal, "late", headers={"X-Fal-Request-Timeout": "0.1"})).json()
    status = await done(key_http, late)
    assert (status["status"], status["error_type"]) == ("COMPLETED", "request_timeout")
    result = await key_http.get(late["response_url"])
    assert result.status_code == 504
    assert result.headers["x-fal-request-timeout-type"] == "user"
    assert result.headers["x-fal-error-type"] == "request_timeout"
    assert result.headers["x-fal-request-id"] == late["request_id"]


async def test_a_started_request_has_no_timeout(
    slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient
) -> None:
    receipt = (await submit(slow_fal, headers={"X-Fal-Request-Timeout": "0.1"})).json()
    assert "error" not in await done(key_http, receipt)


async def test_a_malformed_header_or_body_is_refused(
    fal: Fal, submit: Any, key_http: httpx.AsyncClient
) -> None:
    assert (await submit(fal, headers={"X-Fal-Request-Timeout": "soon"})).status_code == 400
    assert (await key_http.post(f"{fal.url}/fal-ai/flux/dev", content=b"[1]")).status_code == 422


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"prompt": None}, "missing"),
        ({"num_inference_steps": 51}, "less_than_equal"),
        ({"num_images": 0}, "less_than_equal"),
        ({"image_size": "huge"}, "value_error"),
        ({"image_size": {"width": 9000, "height": 64}}, "image_too_large"),
        ({"output_format": "gif"}, "literal_error"),
        ({"seed": "x"}, "int_type"),
    ],
)
async def test_invalid_input_appears_in_the_result(
    fal: Fal, submit: Any, key_http: httpx.AsyncClient, fields: dict[str, Any], kind: str
) -> None:
    """The queue takes anything; it is the runner that refuses."""
    reply = await submit(fal, **{"prompt": "p", **fields})
    assert reply.status_code == 200
    await done(key_http, reply.json())
    result = await key_http.get(reply.json()["response_url"])
    assert (result.status_code, result.json()["detail"][0]["type"]) == (422, kind)
    assert fal.billed_units() == 0


async def test_the_result_says_what_is_billed(fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    receipt = (await submit(fal, app="fal-ai/krea-2/turbo", image_size="square_hd", num_images=2)).json()
    await done(key_http, receipt)
    result = await key_http.get(receipt["response_url"])
    assert result.headers["x-fal-billable-units"] == "4"
    assert len(result.json()["images"]) == 2


async def test_presets_and_defaults(fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    receipt = (await submit(fal, image_size=None, output_format=None)).json()
    await done(key_http, receipt)
    (image,) = (await key_http.get(receipt["response_url"])).json()["images"]
    assert (image["width"], image["height"], image["content_type"]) == (1024, 768, "image/jpeg")


async def test_loras_where_the_app_takes_them(fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    good = (await submit(fal, app="fal-ai/flux-lora", loras=[{"path": "org/ink", "scale": 1}])).json()
    assert "error" not in await done(key_http, good)
    bad = (await submit(fal, app="fal-ai/flux-lora", loras=["org/ink"])).json()
    assert "error" in await done(key_http, bad)


async def test_media_are_public_until_they_expire(quick: Speed, submit: Any, http: httpx.AsyncClient) -> None:
    async with fal_queue(speed=quick) as fal:
        keyed = {"Authorization": "Key k"}
        lifetime = {"X-Fal-Object-Lifecycle-Preference": '{"expiration_duration_seconds": 0.2}'}
        urls = []
        for headers in ({}, lifetime):
            receipt = (await submit(fal, headers=headers)).json()
            await fal.ledger.until(lambda rows: rows.count("billed") > len(urls))
            result = (await http.get(receipt["response_url"], headers=keyed)).json()
            urls.append(result["images"][0]["url"])
        lasting, short = urls
        async with asyncio.timeout(5):
            while (await http.get(short)).status_code != 404:
                pass
        assert (await http.get(lasting)).status_code == 200


async def test_state_and_ledger_are_served(fal: Fal, submit: Any, http: httpx.AsyncClient) -> None:
    await submit(fal, job="a")
    await fal.ledger.until(lambda rows: rows.count("billed") == 1)
    state = (await http.get(f"{fal.url}/_emulator/state")).json()
    assert (state["COMPLETED"], state["concurrency"]) == (1, 4)
    rows = (await http.get(f"{fal.url}/_emulator/ledger?kind=billed")).json()["rows"]
    assert [row["job"] for row in rows] == ["a"]
