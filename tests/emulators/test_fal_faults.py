"""Every fault of the fal emulator does what its name says."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from loadtests.emulators import Fal, read_marks


@pytest.fixture
def finish(key_http: httpx.AsyncClient, submit: Any) -> Any:
    """Submit and wait for the end; gives the receipt."""

    async def run(fal: Fal, prompt: str = "a hill", **fields: Any) -> dict[str, Any]:
        receipt: dict[str, Any] = (await submit(fal, prompt, **fields)).json()
        await fal.ledger.until(
            lambda rows: any(
                row["request_id"] == receipt["request_id"]
                for row in rows.rows("billed", "failed", "cancelled")
            )
        )
        return receipt

    return run


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("rate_limited", 429, "Rate limit"),
        ("error503", 503, "unavailable"),
        ("locked403", 403, "Exhausted balance"),
        ("bad_key401", 401, "Authentication"),
    ],
)
async def test_refused_submits(fal: Fal, submit: Any, kind: str, status: int, words: str) -> None:
    await fal.set_faults({"kind": kind})
    reply = await submit(fal)
    assert reply.status_code == status
    assert words in reply.json()["detail"]
    assert reply.headers["x-fal-request-id"]
    assert fal.ledger.count("submitted") == 0
    assert (await submit(fal)).status_code == 200


async def test_a_rate_limit_may_say_how_long(fal: Fal, submit: Any) -> None:
    await fal.set_faults({"kind": "rate_limited", "retry_after": 7, "times": 2})
    assert [(await submit(fal)).headers.get("retry-after") for _ in range(3)] == ["7", "7", None]


@pytest.mark.parametrize("endpoint", ["status", "result", "cancel"])
async def test_other_endpoints_can_refuse_too(
    fal: Fal, submit: Any, finish: Any, key_http: httpx.AsyncClient, endpoint: str
) -> None:
    receipt = await finish(fal)
    await fal.set_faults({"kind": "error503", "on": endpoint})
    calls = {
        "status": ("GET", receipt["status_url"]),
        "result": ("GET", receipt["response_url"]),
        "cancel": ("PUT", receipt["cancel_url"]),
    }
    assert (await submit(fal)).status_code == 200
    assert (await key_http.request(*calls[endpoint])).status_code == 503
    assert (await key_http.request(*calls[endpoint])).status_code != 503


async def test_a_lost_submit_reply_is_worked_and_billed(fal: Fal, submit: Any) -> None:
    await fal.set_faults({"kind": "submit_reply_lost"})
    with pytest.raises(httpx.TransportError):
        await submit(fal, job="a")
    await fal.ledger.until(lambda rows: rows.count("billed", job="a") == 1)


async def test_content_policy(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "content_policy", "match_prompt": "bad"})
    receipt = await finish(fal, "something bad")
    status = (await key_http.get(receipt["status_url"])).json()
    assert (status["status"], status["error_type"]) == ("COMPLETED", "content_policy_violation")
    result = await key_http.get(receipt["response_url"])
    assert result.status_code == 422
    assert result.headers["x-fal-retryable"] == "false"
    assert result.json()["detail"][0]["type"] == "content_policy_violation"
    assert (await key_http.get((await finish(fal, "a good one"))["response_url"])).status_code == 200


async def test_model_error500(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "model_error500"})
    result = await key_http.get((await finish(fal))["response_url"])
    assert result.status_code == 500
    assert result.headers["x-fal-retryable"] == "true"


async def test_a_lost_runner_is_retried_by_the_queue(
    fal: Fal, finish: Any, key_http: httpx.AsyncClient
) -> None:
    await fal.set_faults({"kind": "runner_lost", "times": 2})
    receipt = await finish(fal)
    assert (await key_http.get(receipt["response_url"])).status_code == 200
    assert [row["tries"] for row in fal.ledger.rows("started")] == [1, 2, 3]


async def test_a_lost_runner_is_not_retried_if_forbidden(
    fal: Fal, finish: Any, key_http: httpx.AsyncClient
) -> None:
    await fal.set_faults({"kind": "runner_lost", "times": 1})
    receipt = await finish(fal, headers={"x-fal-no-retry": "1"})
    result = await key_http.get(receipt["response_url"])
    assert (result.status_code, result.headers["x-fal-error-type"]) == (503, "runner_disconnected")
    assert fal.ledger.count("started") == 1


async def test_nsfw_is_a_success_with_a_flag(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "nsfw"})
    receipt = await finish(fal, job="a")
    result = (await key_http.get(receipt["response_url"])).json()
    assert result["has_nsfw_concepts"] == [True]
    png = (await key_http.get(result["images"][0]["url"])).content
    assert read_marks(png)["spillover-job"] == "a"
    assert len(png) < 5000  # blacked out by the checker


@pytest.mark.parametrize("kind", ["stuck_in_queue", "stuck_in_progress"])
async def test_a_stuck_request_moves_when_the_fault_is_lifted(
    fal: Fal, submit: Any, key_http: httpx.AsyncClient, kind: str
) -> None:
    await fal.set_faults({"kind": kind})
    receipt = (await submit(fal)).json()
    if kind == "stuck_in_progress":
        await fal.ledger.until(lambda rows: rows.count("started") == 1)
    status = (await key_http.get(receipt["status_url"])).json()["status"]
    assert status == {"stuck_in_queue": "IN_QUEUE", "stuck_in_progress": "IN_PROGRESS"}[kind]
    await fal.set_faults()
    await fal.ledger.until(lambda rows: rows.count("billed") == 1)


async def test_queue_delay_and_slow(fal: Fal, finish: Any) -> None:
    await fal.set_faults({"kind": "queue_delay", "s": 0.2}, {"kind": "slow", "factor": 10})
    await finish(fal)
    (submitted,), (started,) = fal.ledger.rows("submitted"), fal.ledger.rows("started")
    (completed,) = fal.ledger.rows("completed")
    assert started["at"] - submitted["at"] >= 0.19
    assert completed["seconds"] >= 0.2


async def test_result_404(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "result_404"})
    receipt = await finish(fal)
    assert (await key_http.get(receipt["response_url"])).status_code == 404
    assert (await key_http.get(receipt["response_url"])).status_code == 200


async def test_result_garbage(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "result_garbage"})
    result = await key_http.get((await finish(fal))["response_url"])
    assert (result.status_code, result.headers["content-type"]) == (200, "text/html; charset=utf-8")


async def test_result_expired_is_about_the_media(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "result_expired"}, {"kind": "result_expired", "status": 404})
    receipt = await finish(fal)
    url = (await key_http.get(receipt["response_url"])).json()["images"][0]["url"]
    await fal.set_faults({"kind": "result_expired"})
    assert [(await key_http.get(url)).status_code for _ in range(2)] == [403, 200]
    await fal.set_faults({"kind": "result_expired", "status": 404})
    assert (await key_http.get(url)).status_code == 404


async def test_missing_image(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    await fal.set_faults({"kind": "missing_image"})
    result = await key_http.get((await finish(fal))["response_url"])
    assert result.json()["images"] == []
    assert fal.billed_units() == 1


@pytest.mark.parametrize(
    ("kind", "complaint"), [("truncated_image", "truncated"), ("not_an_image", "signature")]
)
async def test_spoiled_files(
    fal: Fal, finish: Any, key_http: httpx.AsyncClient, kind: str, complaint: str
) -> None:
    await fal.set_faults({"kind": kind})
    result = (await key_http.get((await finish(fal))["response_url"])).json()
    content = (await key_http.get(result["images"][0]["url"])).content
    with pytest.raises(ValueError, match=complaint):
        read_marks(content)


async def test_bad_status_json(fal: Fal, finish: Any, key_http: httpx.AsyncClient) -> None:
    receipt = await finish(fal)
    await fal.set_faults({"kind": "bad_status_json"})
    with pytest.raises(json.JSONDecodeError):
        (await key_http.get(receipt["status_url"])).json()
    assert (await key_http.get(receipt["status_url"])).json()["status"] == "COMPLETED"


async def test_cancel_too_late(slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    await slow_fal.set_faults({"kind": "cancel_too_late"})
    receipt = (await submit(slow_fal)).json()
    reply = await key_http.put(receipt["cancel_url"])
    assert (reply.status_code, reply.json()["status"]) == (400, "ALREADY_COMPLETED")
    assert slow_fal.billed_units() == 1


async def test_cancel_ignored(slow_fal: Fal, submit: Any, key_http: httpx.AsyncClient) -> None:
    await slow_fal.set_faults({"kind": "cancel_ignored"})
    receipt = (await submit(slow_fal)).json()
    await slow_fal.ledger.until(lambda rows: rows.count("started") == 1)
    reply = await key_http.put(receipt["cancel_url"])
    assert (reply.status_code, reply.json()["status"]) == (202, "CANCELLATION_REQUESTED")
    await slow_fal.ledger.until(lambda rows: rows.count("billed") == 1)
    assert slow_fal.ledger.count("cancelled") == 0
