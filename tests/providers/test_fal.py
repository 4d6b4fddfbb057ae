"""The fal queue dialect against a scripted queue: every class of error, and what may be spent in each."""

from __future__ import annotations

import base64
import io
import os
import time
from typing import Any

import pytest
from PIL import Image

from providers.contract import (
    Accepted,
    Cancelled,
    Ended,
    Event,
    Failed,
    Fault,
    Lora,
    Produced,
    Progress,
    Spent,
)
from providers.fal.dialect import FalQueue
from providers.fal.settings import Settings
from providers.http import Http, Limits, open_http
from tests.providers.fal_scenes import (
    COMPLETED,
    IN_PROGRESS,
    IN_QUEUE,
    RESET,
    Scene,
    answer,
    asked,
    completed_with,
    fal_scene,
    receipt,
    result,
)
from tests.providers.scripted import call, failure, generation, raw_server, reply, run, silent

QUICK: dict[str, Any] = {"poll_first_s": 0.01, "poll_longest_s": 0.02}


def _account(http: Http, url: str, **settings: Any) -> FalQueue:
    return FalQueue(Settings(**(QUICK | settings)), http, url, "id:secret", time.monotonic)


def _wanted(**changes: Any) -> Any:
    return call(target="fal-ai/flux/dev", **changes)


@pytest.fixture
def media(png_bytes: bytes) -> bytes:
    return reply(200, png_bytes, {"Content-Type": "image/png"})


# ------------------------------------------------------------------------------------------------ the way


async def test_submit_poll_fetch(http: Http, media: bytes, png: str) -> None:
    scene = Scene(status=(IN_QUEUE, IN_QUEUE, IN_PROGRESS, COMPLETED), media=(media,))
    async with fal_scene(scene) as seen:
        events, outcome = await run(_account(http, seen.url), _wanted())
    kinds: list[Event] = [event for event in events if isinstance(event, Progress)]
    assert kinds == [Progress(True, 2), Progress(False)]  # said when it changes, not at each poll
    assert isinstance(events[0], Accepted)
    assert events[0].handle["request_id"] == "r1"
    assert isinstance(outcome, Produced)
    assert (outcome.images[0].b64, outcome.seed, outcome.units, outcome.server_s) == (png, 11, 1.5, 0.75)


async def test_what_is_submitted(http: Http, media: bytes) -> None:
    wanted = generation(
        seed=5,
        guidance_scale=3.5,
        negative_prompt="blur",
        count=2,
        loras=(Lora("anime", 0.8),),
    )
    able = {"loras": True, "negative_prompt": True}
    async with fal_scene(Scene(media=(media,))) as seen:
        await run(
            _account(http, seen.url, **able),
            _wanted(wanted=wanted, loras={"anime": "https://x/y"}, budget_s=65.0, traceparent="00-a-b-01"),
        )
    submit = seen.requests[0]
    assert submit.line == "POST /fal-ai/flux/dev HTTP/1.1"
    assert submit.json() == {
        "prompt": "a red fox",
        "image_size": {"width": 64, "height": 64},
        "num_inference_steps": 4,
        "num_images": 2,
        "output_format": "png",
        "enable_safety_checker": True,
        "sync_mode": False,
        "guidance_scale": 3.5,
        "negative_prompt": "blur",
        "seed": 5,
        "loras": [{"path": "https://x/y", "scale": 0.8}],
    }
    sent = submit.headers
    assert sent["authorization"] == "Key id:secret"
    assert sent["x-fal-request-timeout"] == "60.000"
    assert sent["x-fal-no-retry"] == "1"
    assert sent["spillover-attempt"] == "job.1;fence=7"
    assert sent["traceparent"] == "00-a-b-01"


async def test_a_short_budget_still_asks_for_more_than_a_second(http: Http, media: bytes) -> None:
    async with fal_scene(Scene(media=(media,))) as seen:
        await run(_account(http, seen.url), _wanted(budget_s=2.0))
    assert float(seen.requests[0].headers["x-fal-request-timeout"]) > 1


async def test_the_key_is_not_sent_to_media_hosts(http: Http, media: bytes) -> None:
    async with fal_scene(Scene(media=(media,))) as seen:
        await run(_account(http, seen.url), _wanted())
    assert ["authorization" in headers for headers in asked(seen, "media")] == [False]
    assert all("authorization" in headers for headers in asked(seen, "status") + asked(seen, "result"))


@pytest.mark.parametrize(
    ("settings", "changes", "parameter"),
    [
        ({}, {"negative_prompt": "x"}, "negative_prompt"),
        ({}, {"loras": (Lora("a"),)}, "loras"),
        ({"loras": True}, {"loras": (Lora("a"),)}, "a"),
        ({"guidance_scale": False}, {"guidance_scale": 1.0}, "guidance_scale"),
        ({}, {"count": 5}, "n"),
        ({}, {"output_format": "webp"}, "output_format"),
    ],
)
async def test_what_cannot_be_honoured_is_not_sent(
    http: Http, settings: dict[str, Any], changes: dict[str, Any], parameter: str
) -> None:
    async with fal_scene(Scene()) as seen:
        failed = await failure(_account(http, seen.url, **settings), _wanted(wanted=generation(**changes)))
    assert (failed.fault, failed.detail, seen.connections) == (Fault.NOT_SENT, parameter, 0)


# ----------------------------------------------------------------------------------------- failing submits

EXHAUSTED = {"detail": "User is locked. Reason: Exhausted balance. Top up your balance."}
POLICY = {"detail": [{"loc": ["body"], "msg": "flagged", "type": "content_policy_violation"}]}
NO, POSSIBLE, YES = Spent.NO, Spent.POSSIBLE, Spent.YES

SUBMITS: list[tuple[bytes, Fault, str, Spent]] = [
    (answer(400, {"detail": "bad"}), Fault.DETERMINISTIC, "invalid_request", NO),
    (answer(422, {"detail": [{"msg": "m", "type": "missing"}]}), Fault.DETERMINISTIC, "invalid_request", NO),
    (answer(422, POLICY), Fault.DETERMINISTIC, "content_policy", NO),
    (answer(401, {"detail": "no"}), Fault.BAD_CREDENTIAL, "bad_credential", NO),
    (answer(402, {}), Fault.BAD_CREDENTIAL, "provider_credit", NO),
    (answer(403, EXHAUSTED), Fault.BAD_CREDENTIAL, "provider_credit", NO),
    (
        answer(403, {"detail": "User is locked. Reason: Admin lock"}),
        Fault.BAD_CREDENTIAL,
        "bad_credential",
        NO,
    ),
    (answer(404, {"detail": "Application not found"}), Fault.FAILED_KNOWN, "not_found", NO),
    (answer(429, {"detail": "slow down"}, Retry_After="9"), Fault.REFUSED, "busy", NO),
    (answer(503, {"detail": "unavailable"}, Retry_After="9"), Fault.REFUSED, "busy", NO),
    (answer(500, {"detail": "x", "error_type": "internal_error"}), Fault.FAILED_KNOWN, "server_error", NO),
    (answer(500, {"detail": "x"}, X_Fal_Error_Type="internal_error"), Fault.FAILED_KNOWN, "server_error", NO),
    (reply(500, b"<html>"), Fault.AMBIGUOUS, "server_error", POSSIBLE),
    (answer(502, {}), Fault.AMBIGUOUS, "gateway_error", POSSIBLE),
    (answer(504, {}), Fault.AMBIGUOUS, "gateway_error", POSSIBLE),
    (RESET, Fault.AMBIGUOUS, "connection_lost", POSSIBLE),
    (reply(200, b"<html>"), Fault.AMBIGUOUS, "malformed_accept", POSSIBLE),
    (answer(200, {}), Fault.AMBIGUOUS, "malformed_accept", POSSIBLE),
    (answer(200, {"request_id": "r1"}), Fault.AMBIGUOUS, "malformed_accept", POSSIBLE),
    (answer(200, receipt("{url}", status_url=7)), Fault.AMBIGUOUS, "malformed_accept", POSSIBLE),
    (answer(307, {}, Location="/elsewhere"), Fault.AMBIGUOUS, "redirect", POSSIBLE),
]


@pytest.mark.parametrize(("said", "fault", "code", "spent"), SUBMITS)
async def test_failing_submits(http: Http, said: bytes, fault: Fault, code: str, spent: Spent) -> None:
    async with fal_scene(Scene(submit=(said,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code, failed.spent) == (fault, code, spent)
    assert failed.ended is (Ended.UNKNOWN if fault is Fault.AMBIGUOUS else Ended.YES)
    assert failed.retry_after_s == (9.0 if fault is Fault.REFUSED else None)
    assert len(seen.requests) == 1  # a submit is never repeated, and nothing follows a failed one


async def test_a_submit_that_hangs_is_ambiguous(http: Http) -> None:
    async with fal_scene(Scene(submit=(None,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted(budget_s=0.2))
    assert (failed.fault, failed.code, failed.spent) == (Fault.AMBIGUOUS, "deadline", POSSIBLE)


async def test_a_submit_that_finds_nobody_was_not_sent(http: Http) -> None:
    async with raw_server(silent) as gone:
        pass
    failed = await failure(_account(http, gone.url), _wanted())
    assert (failed.fault, failed.ended, failed.spent) == (Fault.NOT_SENT, Ended.YES, NO)


async def test_a_closed_send_window_was_not_sent(http: Http) -> None:
    async with fal_scene(Scene()) as seen:
        failed = await failure(_account(http, seen.url), _wanted(send_by=time.monotonic() - 1))
    assert (failed.fault, failed.code, seen.connections) == (Fault.NOT_SENT, "send_window_closed", 0)


@pytest.mark.parametrize("field", ["status_url", "response_url", "cancel_url"])
@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "https://evil.example/status",
        "https://fal.run.evil.example/",
        "https://evilfal.run/",
        "https://user:pass@queue.fal.run/x",
        "https://queue.fal.run:8443/x",
        "http://queue.fal.run/x",
        "file:///etc/passwd",
        "/relative",
        "",
        "https://[",
    ],
)
async def test_urls_that_lead_elsewhere_are_not_followed(http: Http, field: str, url: str) -> None:
    async with fal_scene(Scene(submit=(answer(200, receipt("{url}", **{field: url})),))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code, failed.spent) == (Fault.UNUSABLE, "untrusted_url", POSSIBLE)
    assert failed.ended is Ended.UNKNOWN
    assert len(seen.requests) == 1


# ------------------------------------------------------------------------------------------------- polling


async def test_polls_that_fail_are_no_verdict(http: Http, media: bytes) -> None:
    hiccups = (RESET, reply(500, b"x"), reply(502, b""), reply(200, b"{"), reply(404, b"{}"), IN_QUEUE)
    scene = Scene(status=(*hiccups, answer(429, {}), COMPLETED), media=(media,))
    async with fal_scene(scene) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted())
    assert isinstance(outcome, Produced)


@pytest.mark.parametrize("said", [IN_QUEUE, IN_PROGRESS, None, RESET, reply(503, b""), reply(200, b"[]")])
async def test_no_end_within_the_budget_is_ambiguous(http: Http, said: bytes | None) -> None:
    async with fal_scene(Scene(status=(said,))) as seen:
        began = time.monotonic()
        failed = await failure(_account(http, seen.url), _wanted(budget_s=0.4))
        assert time.monotonic() - began < 2
    assert (failed.fault, failed.code) == (Fault.AMBIGUOUS, "deadline")
    assert (failed.ended, failed.spent) == (Ended.UNKNOWN, POSSIBLE)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (reply(404, b"{}"), "request_not_found"),
        (reply(401, b"{}"), "bad_credential"),
        (answer(403, EXHAUSTED), "bad_credential"),
    ],
)
async def test_polls_that_cannot_succeed_end_early(http: Http, said: bytes, code: str) -> None:
    async with fal_scene(Scene(status=(said,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted(budget_s=30.0))
    assert (failed.fault, failed.code) == (Fault.AMBIGUOUS, code)
    assert (failed.ended, failed.spent) == (Ended.UNKNOWN, POSSIBLE)


async def test_a_poll_obeys_retry_after(http: Http, media: bytes) -> None:
    scene = Scene(status=(answer(429, {}, Retry_After="0.3"), COMPLETED), media=(media,))
    async with fal_scene(scene) as seen:
        began = time.monotonic()
        await run(_account(http, seen.url), _wanted())
        assert time.monotonic() - began >= 0.3


# ------------------------------------------------------------------------------------------ work that failed


def _model(kind: str) -> dict[str, object]:
    return {"detail": [{"loc": ["body"], "msg": "m", "type": kind}]}


def _request(kind: str) -> dict[str, object]:
    return {"detail": "text", "error_type": kind}


WORK: list[tuple[int, object, Fault, str, Spent]] = [
    (422, POLICY, Fault.DETERMINISTIC, "content_policy", POSSIBLE),
    (422, _model("image_too_large"), Fault.DETERMINISTIC, "invalid_request", POSSIBLE),
    (422, _model("image_too_small"), Fault.DETERMINISTIC, "invalid_request", POSSIBLE),
    (400, _request("bad_request"), Fault.DETERMINISTIC, "invalid_request", POSSIBLE),
    (422, _model("no_media_generated"), Fault.UNUSABLE, "no_images", POSSIBLE),
    (504, _model("generation_timeout"), Fault.FAILED_KNOWN, "server_error", NO),
    (500, _model("downstream_service_error"), Fault.FAILED_KNOWN, "server_error", NO),
    (500, _model("internal_server_error"), Fault.FAILED_KNOWN, "server_error", NO),
    (500, {"detail": "CUDA out of memory"}, Fault.FAILED_KNOWN, "out_of_memory", NO),
    (504, _request("request_timeout"), Fault.REFUSED, "not_started", NO),
    (504, _request("startup_timeout"), Fault.REFUSED, "not_started", NO),
    (503, _request("runner_scheduling_failure"), Fault.REFUSED, "not_started", NO),
    (503, _request("runner_connection_timeout"), Fault.REFUSED, "not_started", NO),
    (503, _request("runner_connection_refused"), Fault.REFUSED, "not_started", NO),
    (503, _request("runner_connection_error"), Fault.REFUSED, "not_started", NO),
    (503, _request("runner_disconnected"), Fault.FAILED_KNOWN, "server_error", NO),
    (502, _request("runner_incomplete_response"), Fault.FAILED_KNOWN, "server_error", NO),
    (500, _request("runner_server_error"), Fault.FAILED_KNOWN, "server_error", NO),
    (500, _request("internal_error"), Fault.FAILED_KNOWN, "server_error", NO),
    (499, _request("client_disconnected"), Fault.FAILED_KNOWN, "cancelled", POSSIBLE),
    (499, _request("client_cancelled"), Fault.FAILED_KNOWN, "cancelled", POSSIBLE),
    (404, {"detail": "Request not found"}, Fault.UNUSABLE, "result_gone", POSSIBLE),
    (410, {}, Fault.UNUSABLE, "result_gone", POSSIBLE),
    (401, {}, Fault.BAD_CREDENTIAL, "bad_credential", POSSIBLE),
    (403, EXHAUSTED, Fault.BAD_CREDENTIAL, "provider_credit", POSSIBLE),
    (429, {}, Fault.REFUSED, "busy", NO),
    (200, {}, Fault.UNUSABLE, "error_in_success", POSSIBLE),
]


@pytest.mark.parametrize(("status", "body", "fault", "code", "spent"), WORK)
async def test_work_that_failed(
    http: Http, status: int, body: object, fault: Fault, code: str, spent: Spent
) -> None:
    scene = Scene(status=(completed_with("it failed"),), result=(answer(status, body),))
    async with fal_scene(scene) as seen:
        failed = await failure(_account(http, seen.url), _wanted(budget_s=10.0))
    assert (failed.fault, failed.code, failed.spent) == (fault, code, spent)
    assert failed.ended is Ended.YES


@pytest.mark.parametrize("said", [RESET, reply(200, b"{}")])
async def test_the_status_tells_why_when_the_result_cannot(http: Http, said: bytes) -> None:
    status = completed_with("flagged", "content_policy_violation")
    async with fal_scene(Scene(status=(status,), result=(said,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code) == (Fault.DETERMINISTIC, "content_policy")


# ------------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("said", [RESET, reply(502, b"<html>"), answer(429, {}), reply(202, b"{}")])
async def test_a_result_is_asked_for_three_times(http: Http, media: bytes, said: bytes) -> None:
    async with fal_scene(
        Scene(result=(said, said, answer(200, result("{url}", "a"))), media=(media,))
    ) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted())
        assert isinstance(outcome, Produced)
    async with fal_scene(Scene(result=(said,), media=(media,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
        assert len(asked(seen, "result")) == (6 if said == RESET else 3)  # aiohttp repeats a broken GET once
    assert (failed.fault, failed.code) == (Fault.AMBIGUOUS, "result_unavailable")
    assert (failed.ended, failed.spent) == (Ended.YES, POSSIBLE)


BAD_RESULTS: list[tuple[bytes, str]] = [
    (reply(200, b""), "malformed_result"),
    (reply(200, b"<html>"), "malformed_result"),
    (reply(200, b"[]"), "malformed_result"),
    (reply(200, b"null"), "malformed_result"),
    (answer(200, {"images": "x"}), "malformed_result"),
    (answer(200, {"images": [{}]}), "malformed_result"),
    (answer(200, {"images": [{"url": None}]}), "malformed_result"),
    (answer(200, {"images": [], "has_nsfw_concepts": ["no"]}), "malformed_result"),
    (reply(200, b"[" * 100_000), "malformed_result"),
    (answer(200, {}), "no_images"),
    (answer(200, {"images": []}), "no_images"),
    (answer(200, {"images": None}), "no_images"),
    (answer(200, {"images": [{"url": "data:image/png;base64,AAAA"}]}), "untrusted_url"),
    (answer(200, {"images": [{"url": "http://127.0.0.1:6379/"}]}), "untrusted_url"),
    (answer(200, {"images": [{"url": "https://fal.media.evil.example/a.png"}]}), "untrusted_url"),
    (answer(301, {}, Location="http://127.0.0.1:6379/"), "redirect"),
]


@pytest.mark.parametrize(("said", "code"), BAD_RESULTS)
async def test_results_that_are_none_are_paid_for(http: Http, said: bytes, code: str) -> None:
    async with fal_scene(Scene(result=(said,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code, failed.ended) == (Fault.UNUSABLE, code, Ended.YES)
    assert failed.spent is YES
    assert asked(seen, "media") == []


async def test_a_flagged_image_is_refused_content(http: Http, media: bytes) -> None:
    flagged = answer(200, result("{url}", "a", "b", has_nsfw_concepts=[False, True]))
    async with fal_scene(Scene(result=(flagged,), media=(media,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted(wanted=generation(count=2)))
    assert (failed.fault, failed.code, failed.spent) == (Fault.DETERMINISTIC, "content_policy", YES)


@pytest.mark.parametrize("units", ["", "x", "nan", "inf"])
async def test_units_that_are_none(http: Http, media: bytes, units: str) -> None:
    said = answer(200, result("{url}", "a"), x_fal_billable_units=units)
    async with fal_scene(Scene(result=(said,), media=(media,))) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted())
    assert isinstance(outcome, Produced)
    assert outcome.units is None


# --------------------------------------------------------------------------------------------------- media


async def test_media_is_asked_for_three_times(http: Http, media: bytes) -> None:
    async with fal_scene(Scene(media=(reply(500, b""), RESET, media))) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted())
    assert isinstance(outcome, Produced)


async def test_an_expired_url_is_replaced_by_a_fresh_one(http: Http, media: bytes) -> None:
    scene = Scene(
        result=(answer(200, result("{url}", "old")), answer(200, result("{url}", "new"))),
        media=(reply(403, b""), reply(403, b""), reply(403, b""), media),
    )
    async with fal_scene(scene) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted())
    assert isinstance(outcome, Produced)
    assert seen.requests[-1].path == "/files/new"


async def test_media_that_cannot_be_had_was_paid_for(http: Http) -> None:
    async with fal_scene(Scene(media=(reply(404, b""),))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code) == (Fault.UNUSABLE, "result_unavailable")
    assert (failed.ended, failed.spent) == (Ended.YES, YES)
    assert (len(asked(seen, "media")), len(asked(seen, "result"))) == (6, 2)


async def test_media_that_is_late_can_be_resumed(http: Http) -> None:
    async with fal_scene(Scene(media=(None,))) as seen:
        failed = await failure(_account(http, seen.url), _wanted(budget_s=0.5))
    assert (failed.fault, failed.code) == (Fault.AMBIGUOUS, "deadline")
    assert (failed.ended, failed.spent) == (Ended.YES, YES)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "image_empty"),
        (b"<html>", "image_is_markup"),
        (SVG, "image_is_markup"),
        (b"\0" * 99, "image_unknown_format"),
    ],
)
async def test_media_that_is_no_image(http: Http, body: bytes, code: str) -> None:
    async with fal_scene(Scene(media=(reply(200, body),))) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code, failed.spent) == (Fault.UNUSABLE, code, YES)


async def test_media_in_part_is_produced_in_part(http: Http, media: bytes) -> None:
    said = answer(200, result("{url}", "a", "b"), x_fal_billable_units="2")
    async with fal_scene(Scene(result=(said,), media=(media, reply(200, b"<html>")))) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted(wanted=generation(count=2)))
    assert isinstance(outcome, Produced)
    assert (len(outcome.images), outcome.units) == (1, 2.0)


async def test_a_redirect_of_media_is_not_followed(http: Http) -> None:
    async with raw_server(silent) as inner:
        moved = reply(302, b"", {"Location": inner.url})
        async with fal_scene(Scene(media=(moved,))) as seen:
            failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code) == (Fault.UNUSABLE, "result_unavailable")
    assert inner.connections == 0


async def test_media_over_the_cap_is_cut_off() -> None:
    large = Scene(media=(reply(200, b"x" * 20_000),))
    async with open_http(limits=Limits(response_bytes=10_000)) as http, fal_scene(large) as seen:
        failed = await failure(_account(http, seen.url), _wanted())
    assert (failed.fault, failed.code) == (Fault.UNUSABLE, "result_unavailable")


async def test_a_large_image_is_encoded_beside_the_loop(http: Http) -> None:
    buffer = io.BytesIO()
    Image.frombytes("RGB", (400, 400), os.urandom(480_000)).save(buffer, "PNG")
    async with fal_scene(Scene(media=(reply(200, buffer.getvalue()),))) as seen:
        _, outcome = await run(_account(http, seen.url), _wanted())
    assert isinstance(outcome, Produced)
    assert base64.b64decode(outcome.images[0].b64) == buffer.getvalue()


# ---------------------------------------------------------------------------------- cancel, resume, health

CANCELS = [
    (answer(200, {"status": "OK"}), Cancelled.CONFIRMED),
    (answer(202, {"status": "CANCELLATION_REQUESTED"}), Cancelled.SIGNALLED),
    (answer(400, {"status": "ALREADY_COMPLETED"}), Cancelled.TOO_LATE),
    (answer(404, {"status": "NOT_FOUND"}), Cancelled.UNKNOWN),
    (answer(202, {}), Cancelled.SIGNALLED),
    (answer(400, {"detail": "x"}), Cancelled.TOO_LATE),
    (answer(200, {}), Cancelled.UNKNOWN),
    (reply(500, b"<html>"), Cancelled.UNKNOWN),
    (RESET, Cancelled.UNKNOWN),
    (None, Cancelled.UNKNOWN),
]


@pytest.mark.parametrize(("said", "cancelled"), CANCELS)
async def test_cancel(http: Http, said: bytes | None, cancelled: Cancelled) -> None:
    async with fal_scene(Scene(cancel=(said,))) as seen:
        account = _account(http, seen.url, request_s=0.3)
        handle = {name: str(value) for name, value in receipt(seen.url).items()}
        assert await account.cancel(handle) is cancelled
    assert {one.method for one in seen.requests} == {"PUT"}


BAD_HANDLES: list[dict[str, str]] = [
    {},
    {"request_id": "r1"},
    {
        "request_id": "r1",
        **dict.fromkeys(("status_url", "response_url", "cancel_url"), "https://evil.example/"),
    },
]


@pytest.mark.parametrize("handle", BAD_HANDLES)
async def test_handles_that_are_none(http: Http, handle: dict[str, str]) -> None:
    account = _account(http, "http://127.0.0.1:9")
    assert await account.cancel(handle) is Cancelled.UNKNOWN
    (event,) = [event async for event in account.resume(handle, _wanted())]
    assert isinstance(event, Failed)
    assert (event.fault, event.spent, event.ended) == (Fault.UNUSABLE, POSSIBLE, Ended.UNKNOWN)


async def test_resume_goes_on_without_a_submit(http: Http, media: bytes) -> None:
    async with fal_scene(Scene(status=(IN_PROGRESS, COMPLETED), media=(media,))) as seen:
        handle = {name: str(value) for name, value in receipt(seen.url).items()}
        events = [event async for event in _account(http, seen.url).resume(handle, _wanted())]
    assert [type(event) for event in events] == [Progress, Produced]
    assert asked(seen, "submit") == []


@pytest.mark.parametrize(("status", "ready"), [(200, True), (404, True), (503, False)])
async def test_health_is_reachability_without_the_key(http: Http, status: int, ready: bool) -> None:
    async with fal_scene(Scene(result=(reply(status),))) as seen:
        health = await _account(http, seen.url).health(1)
    assert (health.reachable, health.ready, health.idle) == (True, ready, None)
    assert "authorization" not in seen.requests[0].headers


async def test_health_of_nobody(http: Http) -> None:
    async with raw_server(silent) as gone:
        pass
    health = await _account(http, gone.url).health(1)
    assert (health.reachable, health.ready) == (False, False)
