"""No secret is ever printed: not by repr, not by a problem, not by what is shown or explained."""

from __future__ import annotations

import json

import pytest

from config.explaining import Explanation, explain
from config.loading import Loaded, Refused
from config.masking import MASK, shown
from tests.config.deployments import FULL, loaded, outcome

SECRET = "hunter2-hunter2"


def everything_printed(found: Loaded | Refused) -> str:
    texts = [repr(found), str(found)]
    if isinstance(found, Loaded):
        texts += [repr(found.config), str(found.config), json.dumps(shown(found))]
        texts += [str(warning) for warning in found.warnings]
        texts += [
            repr(explain(key, found)) for key in ("redis", "redis.url", "pools", "pools.fal.credential")
        ]
    else:
        texts += [str(problem) for problem in found.problems]
    return "\n".join(texts)


@pytest.mark.parametrize(
    "text",
    [
        FULL,
        FULL.replace("${FAL_KEY}", SECRET),
        FULL.replace("redis://store", f"redis://user:{SECRET}@store"),
        FULL.replace("redis://store", "redis://:${FAL_KEY}@store"),
        FULL.replace("{server: sglang}", f"{{server: sglang, api_key: {SECRET}}}"),
        FULL.replace("{server: sglang}", f"{{auth: {{token: [{SECRET}]}}}}"),
        FULL.replace("{server: sglang}", '{header: "${file:/secret}"}'),
    ],
)
def test_a_deployment_that_loads(text: str) -> None:
    found = outcome(text, {"FAL_KEY": SECRET}, {"/secret": SECRET})
    assert isinstance(found, Loaded), found
    assert SECRET not in everything_printed(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("port: 8080", "port: ${FAL_KEY}"),
        ("port: 8080", "port: ${file:/secret}"),
        ("log_level: info", "log_level: ${FAL_KEY}"),
        ("daily_budget_usd: 50", "daily_budget_usd: ${FAL_KEY}"),
        ("valid_from: 2026-01-01", "valid_from: ${FAL_KEY}"),
        ("place: external", "place: ${FAL_KEY}"),
        ("url: https://queue.example", "url: ${FAL_KEY}"),
        ("url: https://queue.example", f"url: https://user:{SECRET}@queue.example"),
        ("url: http://w1:8000", "url: http://user:${FAL_KEY}@w1:8000"),
        ("secret_sha256: aaaa", "secret_sha256: ${FAL_KEY}"),
        ("credential: ${FAL_KEY}", f"credential: [{SECRET}]"),
        ("credential: ${FAL_KEY}", f"credential: {{key: {SECRET}}}"),
        ("credential: ${FAL_KEY}", f"credential: {SECRET}: x"),
        ("credential: ${FAL_KEY}", f"credential: '{SECRET}"),
        ("credential: ${FAL_KEY}", f"credential: !{SECRET} x"),
        ("credential: ${FAL_KEY}", f"credential: {SECRET}${{"),
        ("credential: ${FAL_KEY}", f"credential: {SECRET}\n    credential: {SECRET}"),
    ],
)
def test_a_deployment_that_does_not(before: str, after: str) -> None:
    assert before in FULL
    found = outcome(FULL.replace(before, after), {"FAL_KEY": SECRET}, {"/secret": SECRET})
    assert isinstance(found, Refused)
    assert SECRET not in everything_printed(found)


def test_what_is_shown_says_that_something_is_there() -> None:
    text = FULL.replace("{server: sglang}", "{server: sglang, api-key: x, monkey: y}")
    data = shown(loaded(text.replace("redis://store", "redis://u:p@store")))
    assert data["pools"]["fal"]["credential"] == MASK
    assert data["redis"]["url"] == f"redis://{MASK}@store:6379/0"
    assert data["pools"]["house"]["settings"] == {"server": "sglang", "api-key": MASK, "monkey": "y"}
    assert data["pools"]["fal"]["daily_budget_usd"] == "50"


def test_a_secret_file_is_masked_wherever_it_stands() -> None:
    found = loaded(FULL.replace("port: 8080", "host: ${file:/secret}"), {"FAL_KEY": "k"}, {"/secret": SECRET})
    explained = explain("gateway.host", found)
    assert isinstance(explained, Explanation)
    assert (explained.value, explained.source) == (json.dumps(MASK), "secret file")
