"""Credentials of the usual shapes do not get into a line, and what is no credential stays."""

from __future__ import annotations

import json

import pytest

from router.telemetry.redaction import HIDDEN, redacted

SECRETS = [
    ("Authorization: Bearer canary.abc-123_x", "Authorization: Bearer "),
    ("authorization: bearer canary", "authorization: bearer "),
    ("Proxy: Basic Y2FuYXJ5canary==", "Proxy: Basic "),
    ("Authorization: Key abc-def:canary0123", "Authorization: Key "),
    ("key spk_abcdefghij12_canary-Secret_x was used", "key spk_abcdefghij12_"),
    ("redis://user:canary@redis:6379/0 is gone", "redis://user:"),
    ("redis://:canary@redis:6379/0 is gone", "redis://:"),
    (
        "GET https://bucket/x.png?size=1&X-Amz-Signature=canary&b=2",
        "GET https://bucket/x.png?size=1&X-Amz-Signature=",
    ),
    ("https://h/p?token=canary", "https://h/p?token="),
]


@pytest.mark.parametrize(("line", "kept"), SECRETS)
def test_a_secret_is_hidden(line: str, kept: str) -> None:
    assert redacted(line).startswith(kept + HIDDEN)
    assert "canary" not in redacted(line)


@pytest.mark.parametrize(("line", "_"), SECRETS)
def test_a_line_stays_json(line: str, _: str) -> None:
    written = redacted(json.dumps({"message": line + '\n"quoted" \\', "exception": f"x {line}"}))
    assert set(json.loads(written)) == {"message", "exception"}
    assert "canary" not in written


@pytest.mark.parametrize(
    "line",
    [
        "the key of the matter",
        "Key: value",
        "a bearer",
        "http://worker-1:9101/v1",
        "spk_short_x",
        "12:30:45 key a",
        "pool fal: 3 of 8",
    ],
)
def test_ordinary_words_stay(line: str) -> None:
    assert redacted(line) == line
