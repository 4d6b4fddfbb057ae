"""The OpenAI images dialect against scripted servers: what it sends, and what it makes of every answer."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from providers.contract import Cancelled, Ended, Failed, Fault, Health, Lora, Produced, Spent
from providers.http import Http
from providers.openai_images.dialect import OpenAIImages
from providers.openai_images.settings import Settings
from tests.providers.scripted import (
    Raw,
    Wire,
    answering,
    call,
    failure,
    generation,
    raw_server,
    reply,
    run,
    silent,
)


def _worker(http: Http, url: str, server: str = "sglang", credential: str | None = None) -> OpenAIImages:
    settings = Settings(server=server)  # type: ignore[arg-type]
    return OpenAIImages(settings, http, url, credential, time.monotonic)


def _images(*texts: str, **more: object) -> bytes:
    return json.dumps({"created": 1, "data": [{"b64_json": text} for text in texts], **more}).encode()


# ------------------------------------------------------------------------------------------- what is sent

FULL: dict[str, Any] = {
    "count": 2,
    "seed": 9,
    "guidance_scale": 3.5,
    "negative_prompt": "blur",
    "output_format": "webp",
}
PLAIN = {
    "model": "black-forest-labs/FLUX.1-dev",
    "prompt": "a red fox",
    "n": 1,
    "size": "64x64",
    "output_format": "png",
}


@pytest.mark.parametrize("server", ["sglang", "vllm_omni"])
async def test_a_plain_request_says_only_what_was_asked(http: Http, png: str, server: str) -> None:
    async with raw_server(answering(reply(body=_images(png)))) as seen:
        _, outcome = await run(_worker(http, seen.url, server), call())
    assert seen.requests[0].json() == {**PLAIN, "response_format": "b64_json", "num_inference_steps": 4}
    assert isinstance(outcome, Produced)


async def test_every_parameter_is_sent(http: Http, png: str) -> None:
    async with raw_server(answering(reply(body=_images(png)))) as seen:
        await run(_worker(http, seen.url), call(generation(**FULL)))
    sent = seen.requests[0].json()
    assert (sent["n"], sent["seed"], sent["guidance_scale"]) == (2, 9, 3.5)
    assert (sent["negative_prompt"], sent["output_format"]) == ("blur", "webp")


async def test_openai_itself_gets_no_extensions(http: Http, png: str) -> None:
    async with raw_server(answering(reply(body=_images(png)))) as seen:
        await run(_worker(http, seen.url, "openai", "sk-1"), call())
    assert seen.requests[0].json() == PLAIN
    assert seen.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_headers_name_the_attempt(http: Http, png: str) -> None:
    async with raw_server(answering(reply(body=_images(png)))) as seen:
        await run(_worker(http, seen.url + "/"), call(attempt="j1.2", fence=77, traceparent="00-ab-cd-01"))
        await run(_worker(http, seen.url), call())
    first, second = seen.requests
    assert first.line == "POST /v1/images/generations HTTP/1.1"
    assert first.headers["spillover-attempt"] == "j1.2;fence=77"
    assert first.headers["traceparent"] == "00-ab-cd-01"
    assert "traceparent" not in second.headers
    assert "authorization" not in second.headers


async def test_loras_go_with_the_request_to_vllm_omni(http: Http, png: str) -> None:
    wanted = call(generation(loras=(Lora("anime", 0.8),)), loras={"anime": "/loras/anime.safetensors"})
    async with raw_server(answering(reply(body=_images(png)))) as seen:
        await run(_worker(http, seen.url, "vllm_omni"), wanted)
    assert seen.requests[0].json()["lora"] == {
        "name": "anime",
        "path": "/loras/anime.safetensors",
        "scale": 0.8,
    }


@pytest.mark.parametrize(
    ("server", "changes", "parameter"),
    [
        ("openai", {"seed": 1}, "seed"),
        ("openai", {"guidance_scale": 1.0}, "guidance_scale"),
        ("openai", {"negative_prompt": "x"}, "negative_prompt"),
        ("openai", {"loras": (Lora("a"),)}, "loras"),
        (
            "sglang",
            {"loras": (Lora("a"),)},
            "loras",
        ),  # server-wide there: the router picks a worker that has it
        ("sglang", {"count": 11}, "n"),
        ("sglang", {"output_format": "gif"}, "output_format"),
        ("vllm_omni", {"loras": (Lora("unknown"),)}, "unknown"),
    ],
)
async def test_what_cannot_be_honoured_is_not_sent(
    http: Http, server: str, changes: dict[str, Any], parameter: str
) -> None:
    async with raw_server(silent) as seen:
        failed = await failure(_worker(http, seen.url, server), call(generation(**changes)))
    assert (failed.fault, failed.code, failed.detail) == (
        Fault.NOT_SENT,
        "unsupported_parameter",
        parameter,
    )
    assert seen.connections == 0


# ------------------------------------------------------------------------------------------ what comes back


async def test_images_with_time_and_seed(http: Http, png: str) -> None:
    body = _images(png, png, inference_time_s=1.25)
    async with raw_server(answering(reply(body=body))) as seen:
        _, outcome = await run(_worker(http, seen.url), call(generation(count=2, seed=5)))
    assert isinstance(outcome, Produced)
    assert (len(outcome.images), outcome.seed, outcome.server_s, outcome.units) == (2, 5, 1.25, None)
    assert (outcome.images[0].width, outcome.images[0].media_type) == (64, "image/png")


async def test_only_images_that_pass_are_kept(http: Http, png: str) -> None:
    async with raw_server(answering(reply(body=_images(png, png[:-8], "", png)))) as seen:
        _, outcome = await run(_worker(http, seen.url), call(generation(count=4)))
    assert isinstance(outcome, Produced)
    assert len(outcome.images) == 2


async def test_more_images_than_asked_are_dropped(http: Http, png: str) -> None:
    async with raw_server(answering(reply(body=_images(png, png, png)))) as seen:
        _, outcome = await run(_worker(http, seen.url), call())
    assert isinstance(outcome, Produced)
    assert len(outcome.images) == 1


async def test_an_image_of_another_attempt_is_never_returned(http: Http, png: str) -> None:
    echo = {"Spillover-Attempt": "other.1;fence=7"}
    async with raw_server(answering(reply(body=_images(png), headers=echo))) as seen:
        failed = await failure(_worker(http, seen.url), call())
    assert (failed.fault, failed.code) == (Fault.UNUSABLE, "attempt_mismatch")


STATUSES: list[tuple[int, object, Fault, str]] = [
    (400, {"detail": "bad size"}, Fault.DETERMINISTIC, "invalid_request"),
    (413, {}, Fault.DETERMINISTIC, "invalid_request"),
    (422, {"detail": [{"msg": "m", "type": "missing"}]}, Fault.DETERMINISTIC, "invalid_request"),
    (400, {"error": {"code": "moderation_blocked"}}, Fault.DETERMINISTIC, "content_policy"),
    (400, {"error": {"code": "billing_hard_limit_reached"}}, Fault.BAD_CREDENTIAL, "provider_credit"),
    (401, {}, Fault.BAD_CREDENTIAL, "bad_credential"),
    (402, {}, Fault.BAD_CREDENTIAL, "provider_credit"),
    (403, {}, Fault.BAD_CREDENTIAL, "bad_credential"),
    (404, {"detail": "Not Found"}, Fault.FAILED_KNOWN, "not_found"),
    (408, {}, Fault.REFUSED, "busy"),
    (409, {"detail": "busy"}, Fault.REFUSED, "busy"),
    (429, {}, Fault.REFUSED, "busy"),
    (429, {"error": {"code": "insufficient_quota"}}, Fault.BAD_CREDENTIAL, "provider_credit"),
    (503, {}, Fault.REFUSED, "busy"),
    (500, {"detail": "boom"}, Fault.FAILED_KNOWN, "server_error"),
    (500, {"detail": "CUDA out of memory. Tried"}, Fault.FAILED_KNOWN, "out_of_memory"),
    (501, {}, Fault.FAILED_KNOWN, "server_error"),
    (502, {}, Fault.AMBIGUOUS, "gateway_error"),
    (504, {}, Fault.AMBIGUOUS, "gateway_error"),
    (202, {}, Fault.UNUSABLE, "unexpected_status"),
    (418, {}, Fault.UNUSABLE, "unexpected_status"),
]


@pytest.mark.parametrize(("status", "body", "fault", "code"), STATUSES)
async def test_statuses(http: Http, status: int, body: object, fault: Fault, code: str) -> None:
    answer = reply(status, json.dumps(body).encode(), {"Retry-After": "3"})
    async with raw_server(answering(answer)) as seen:
        failed = await failure(_worker(http, seen.url), call())
    assert (failed.fault, failed.code) == (fault, code)
    assert failed.retry_after_s == (3.0 if fault is Fault.REFUSED else None)
    assert failed.ended is (Ended.UNKNOWN if fault is Fault.AMBIGUOUS else Ended.YES)
    assert failed.spent is Spent.NO


async def test_the_detail_holds_no_text_of_the_server(http: Http) -> None:
    body = json.dumps({"detail": [{"msg": "bad", "type": "value_error", "input": "a red fox"}]}).encode()
    async with raw_server(answering(reply(422, body))) as seen:
        failed = await failure(_worker(http, seen.url), call())
    assert failed.detail == "HTTP 422 value_error"


BAD_BODIES = [
    b"",
    b"   ",
    b"null",
    b"true",
    b"42",
    b'"text"',
    b"[]",
    b"{}",
    b'{"data":null}',
    b'{"data":[]}',
    b'{"data":{}}',
    b'{"data":"x"}',
    b'{"data":[null]}',
    b'{"data":["x"]}',
    b'{"data":[{}]}',
    b'{"data":[{"b64_json":null}]}',
    b'{"data":[{"b64_json":7}]}',
    b'{"data":[{"b64_json":""}]}',
    b'{"data":[{"b64_json":"????"}]}',
    b'{"data":[{"b64_json":"\xff\xfe"}]}',
    b'{"data":[{"url":"/v1/images/1/content"}]}',
    b'{"data":[{"b64_json":"PCFET0NUWVBFIGh0bWw+"}]}',
    b'{"data":[{"b64_json":"iVBORw0KGgo="}]}',
    b'{"data":[{"b64_json":"' + b"A" * 4000 + b'"}]}',
    b'{"data":[{"b64_json":"iVBORw0KGgo',
    b'{"error":{"message":"no"}}',
    b'{"error":"no","data":[]}',
    b'{"data":[],"inference_time_s":"soon"}',
    b"<html><body>502 Bad Gateway</body></html>",
    b"\x89PNG\r\n\x1a\n",
    b"\x00" * 64,
    b'{"data":' * 3000,
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", BAD_BODIES, ids=range(len(BAD_BODIES)))
async def test_a_200_without_an_image_is_unusable(http: Http, body: bytes) -> None:
    async with raw_server(answering(reply(body=body))) as seen:
        failed = await failure(_worker(http, seen.url), call())
    assert (failed.fault, failed.ended) == (Fault.UNUSABLE, Ended.YES)


@pytest.mark.parametrize(
    ("error", "fault", "code"),
    [
        ("CUDA out of memory", Fault.FAILED_KNOWN, "out_of_memory"),
        ("rejected by the safety system", Fault.DETERMINISTIC, "content_policy"),
        ("boom", Fault.UNUSABLE, "error_in_success"),
    ],
)
async def test_an_error_in_a_200_is_no_success(
    http: Http, png: str, error: str, fault: Fault, code: str
) -> None:
    async with raw_server(answering(reply(body=_images(png, error={"message": error})))) as seen:
        failed = await failure(_worker(http, seen.url), call())
    assert (failed.fault, failed.code) == (fault, code)


async def test_another_size_or_format_is_unusable(http: Http, png: str) -> None:
    async with raw_server(answering(reply(body=_images(png)))) as seen:
        size = await failure(_worker(http, seen.url), call(generation(width=128)))
        kind = await failure(_worker(http, seen.url), call(generation(output_format="jpeg")))
    assert (size.code, kind.code) == ("image_wrong_size", "image_wrong_format")


# ---------------------------------------------------------------------------------- handles, cancel, health


async def test_it_can_neither_resume_nor_cancel(http: Http) -> None:
    worker = _worker(http, "http://127.0.0.1:9")
    (event,) = [event async for event in worker.resume({}, call())]
    assert isinstance(event, Failed)
    assert (event.fault, event.ended) == (Fault.AMBIGUOUS, Ended.UNKNOWN)
    assert await worker.cancel({}) is Cancelled.UNSUPPORTED


def _paths(**answers: bytes | None) -> Any:
    """A script that answers by path; `None` never answers."""

    async def script(wire: Wire) -> None:
        answer = answers[wire.received.path.strip("/")]
        if answer is None:
            await asyncio.Event().wait()
        else:
            await wire.send(answer)

    return script


GAUGE = 'vllm:num_requests_{}{{model_name="m"}} {}\n'


def _gauges(running: object, waiting: object) -> bytes:
    text = GAUGE.format("running", running) + "# HELP x\n" + GAUGE.format("waiting", waiting)
    return reply(body=text.encode())


def _up(idle: bool | None = None) -> Health:
    return Health(reachable=True, ready=True, idle=idle)


@pytest.mark.parametrize(
    ("server", "answers", "health"),
    [
        ("sglang", {"health": reply(), "stats": reply()}, _up(True)),
        ("sglang", {"health": reply(), "stats": None}, _up(False)),
        ("sglang", {"health": reply(), "stats": reply(404)}, _up(None)),
        ("sglang", {"health": reply(503)}, Health(True, False, detail="HTTP 503")),
        ("sglang", {"health": None}, Health(True, False, detail="deadline")),
        ("vllm_omni", {"health": reply(), "metrics": _gauges("0.0", "0.0")}, _up(True)),
        ("vllm_omni", {"health": reply(), "metrics": _gauges("1.0", "0.0")}, _up(False)),
        ("vllm_omni", {"health": reply(), "metrics": _gauges(0, 3)}, _up(False)),
        ("vllm_omni", {"health": reply(), "metrics": _gauges("-.", 3)}, _up(None)),
        ("vllm_omni", {"health": reply(), "metrics": reply(body=b"")}, _up(None)),
        ("vllm_omni", {"health": reply(), "metrics": reply(404)}, _up(None)),
    ],
)
async def test_health(http: Http, server: str, answers: dict[str, bytes | None], health: Health) -> None:
    async with raw_server(_paths(**answers)) as seen:
        assert await _worker(http, seen.url, server).health(0.3) == health


async def test_health_of_openai_costs_nothing(http: Http) -> None:
    async with raw_server(answering(reply())) as seen:
        assert await _worker(http, seen.url, "openai", "sk-1").health(1) == _up()
    assert [(asked.method, asked.path) for asked in seen.requests] == [("GET", "/v1/models")]


async def test_health_of_nobody(http: Http) -> None:
    async with raw_server(silent) as seen:
        pass
    health = await _worker(http, seen.url).health(1)
    assert health == Health(reachable=False, ready=False, detail="connect_failed")


def test_capabilities_differ_by_server(http: Http) -> None:
    raw = Raw(url="http://127.0.0.1:9")
    sglang, omni, openai = (
        _worker(http, raw.url, name).capabilities for name in ("sglang", "vllm_omni", "openai")
    )
    assert (sglang.cancels_on_disconnect, omni.cancels_on_disconnect) == (False, True)
    assert (sglang.reports_idle, openai.reports_idle) == (True, False)
    assert (openai.seed, openai.loras, omni.max_loras) == (False, False, 1)
