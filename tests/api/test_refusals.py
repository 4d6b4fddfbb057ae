"""The table of refusals, and what clients are told to do about each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from router.api.answers import refusal_of
from router.api.refusals import TABLE, Refusal
from router.api.replies import refused
from router.serving.answer import Answer
from router.telemetry.labels import CODES

PATHS = ("/v1/images/generations", "/admin/claims")


@pytest.mark.parametrize("code", sorted(TABLE))
def test_every_row_is_whole(code: str) -> None:
    kind = TABLE[code]
    assert 400 <= kind.status < 600
    assert kind.message.endswith(".")
    assert kind.message.count(".") >= 2, "what happened, and what to do next"
    assert (kind.retry_after_s is not None) == (kind.status in (429, 503))


@pytest.mark.parametrize("code", sorted(TABLE))
@pytest.mark.parametrize("path", PATHS)
def test_every_refusal_is_told_in_the_shape_of_its_path(code: str, path: str) -> None:
    reply = refused(Refusal(code, param="n"), path, "req_1", "job_1")
    headers = dict(reply.headers)
    body = json.loads(b"".join(reply.chunks))
    assert headers[b"content-length"] == b"%d" % len(b"".join(reply.chunks))
    assert headers[b"x-request-id"] == b"req_1"
    assert headers[b"cache-control"] == b"no-store"
    if path.startswith("/v1"):
        assert headers[b"content-type"] == b"application/json"
        assert body["error"]["code"] == code
        assert body["error"]["param"] == "n"
        assert body["error"]["job_id"] == "job_1"
    else:
        assert headers[b"content-type"] == b"application/problem+json"
        assert body["code"] == code
        assert body["status"] == reply.status
        assert body["type"].endswith(code)


@pytest.mark.parametrize("code", [code for code, kind in TABLE.items() if kind.status in (429, 503)])
@pytest.mark.parametrize("wait", [None, 0.0, 0.2, 7.3, 1e9])
def test_who_shall_wait_is_told_how_long(code: str, wait: float | None) -> None:
    headers = dict(refused(Refusal(code, retry_after_s=wait), PATHS[0], "req_1").headers)
    assert 1 <= int(headers[b"retry-after"]) <= 120


@pytest.mark.parametrize("code", sorted(TABLE))
def test_a_retry_that_cannot_help_is_not_invited(code: str) -> None:
    headers = dict(refused(Refusal(code), PATHS[0], "req_1").headers)
    assert (headers.get(b"x-should-retry") == b"false") is not TABLE[code].retryable


@pytest.mark.parametrize("code", sorted(TABLE))
def test_after_money_was_committed_no_retry_is_invited(code: str) -> None:
    assert not refusal_of(Answer(code, paid=True)).retryable


@pytest.mark.parametrize("code", sorted(TABLE.keys() - {"invalid_request"}))
def test_every_refusal_is_reached_over_http(code: str) -> None:
    """`invalid_request` is a back end's word for what was found right here: nobody can provoke it."""
    here = Path(__file__)
    others = [path for path in here.parent.glob("test_*.py") if path != here]
    assert any(f'"{code}"' in path.read_text(encoding="utf-8") for path in others)


def test_back_ends_own_words_stay_inside() -> None:
    found = refusal_of(Answer("image_is_markup"))
    assert (found.code, found.status) == ("upstream_error", 502)


def test_the_policys_wait_is_passed_on() -> None:
    assert refusal_of(Answer("no_capacity", retry_after_s=41.0)).retry_after_s == 41.0


def test_metrics_know_the_codes() -> None:
    assert TABLE.keys() - CODES <= {"headers_too_large", "not_ready", "revision_conflict"}
