"""Prompts, keys and images leave no trace: strings planted in many requests are found nowhere afterwards."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from config.keys import create
from tests.journeys import rawstore
from tests.journeys.client import PATH, Answered, Client, clients, until
from tests.journeys.deployment import ADMIN, HOUSE, METRICS, MODEL, PRIVATE, bearer
from tests.journeys.stack import FAL_KEY, Stack, stack

WORD = "kanarienvogel"
STRANGER = create(b"kanarienvogel-key-stranger" + bytes(18))
SECRETS = (HOUSE.secret, PRIVATE.secret, ADMIN.secret, METRICS.secret, STRANGER.secret, FAL_KEY.split(":")[1])
TELLING = {
    "OTEL_TRACES_EXPORTER": "console",
    "OTEL_BSP_SCHEDULE_DELAY": "200",
}
WORKER_FAULTS = (
    {"kind": "error500", "detail": f"cannot draw {WORD} with key {HOUSE.secret}"},
    {"kind": "oom"},
    {"kind": "busy409", "detail": f"busy with {WORD}"},
    {"kind": "garbage"},
    {"kind": "reply_lost"},
    {"kind": "reset_after_bytes", "bytes": 500},
    {"kind": "truncated_image"},
    {"kind": "wrong_size"},
)
FAL_FAULTS = (
    {"kind": "content_policy"},
    {"kind": "model_error500"},
    {"kind": "submit_reply_lost"},
    {"kind": "result_garbage"},
    {"kind": "locked403"},
)
ADMIN_PATHS = (
    "/admin/state",
    "/admin/claims?all=true",
    "/admin/flags",
    "/admin/audit",
    "/admin/nodes",
    "/admin/providers",
    "/admin/budgets",
    "/admin/decisions",
    "/admin/config",
    "/readyz",
    "/openapi.json",
)


class Find(NamedTuple):
    """Something planted, where it was found, and what stands around it."""

    needle: str
    place: str
    around: str


@pytest.mark.chaos
async def test_nothing_of_a_request_stays_behind(tmp_path: Path) -> None:
    with stack(tmp_path, workers=3, environment=TELLING, telemetry__log_level="debug") as running:
        async with clients(running.urls[0]) as (client,):
            images = [await succeeded(client, f"{WORD} number {i}") for i in range(4)]
            refusals = [*await bad_requests(client), *await failures(running, client)]
            documents = [(await client.admin("GET", path)).body for path in ADMIN_PATHS]
            metrics = await client.ask("GET", "/metrics", headers=bearer(METRICS))
            queued = [asyncio.ensure_future(client.make(f"{WORD} queued {i}", n=2)) for i in range(12)]
            await until(lambda: rawstore.waiting(running.store.url) > 0)
            busy_store = rawstore.dump(running.store.url)
            refusals += [answer for answer in await asyncio.gather(*queued) if answer.status != 200]
        idle_store = rawstore.dump(running.store.url)
        assert "spillover_requests_total" in metrics.body["text"]
        assert {answer.status for answer in refusals} >= {400, 401, 404, 413, 422, 502, 503}
        places = {
            "refusals": list(map(everything, refusals)),
            "admin documents": documents,
            "metrics": metrics.body["text"],
            "store while busy": busy_store,
            "store": idle_store,
        }
    gateways = {name: text for name, text in running.all_output().items() if name.startswith("gateway")}
    assert '"name": "POST /v1/images/generations"' in gateways["gateway-0.out"]  # spans are among it
    # The search does find what is there: names of models and pools may stand anywhere.
    everywhere = {"admin documents", "metrics", "store while busy", "store", "gateway-0.out"}
    assert {find.place for find in found({"model": MODEL, "pool": "onprem"}, places | gateways)} >= everywhere
    needles = {"prompt": WORD, **{f"key {i}": secret for i, secret in enumerate(SECRETS)}}
    needles |= {f"image {i}": piece for i, image in enumerate(images) for piece in pieces(image)}
    assert list(found(needles, places | gateways)) == []


async def succeeded(client: Client, prompt: str) -> str:
    """The image as it came, which names its prompt nowhere else."""
    answer = await client.make(prompt, negative_prompt=f"no {WORD}", user=WORD)
    assert answer.status == 200
    (image,) = answer.body.pop("data")
    assert WORD not in json.dumps(everything(answer))
    return str(image["b64_json"])


async def bad_requests(client: Client) -> list[Answered]:
    """Mistakes of every kind, with the word where a careless error message would repeat it."""
    told: dict[str, Any] = {
        "prompt": WORD,
        "size": f"{WORD}x64",
        "n": WORD,
        "seed": [WORD],
        "output_format": WORD,
        "quality": {WORD: WORD},
        "loras": [{"name": WORD}],
        "response_format": WORD,
        f"{WORD} as a field": 1,
    }
    answers = [
        await client.make(**{"prompt": WORD, name: value}) for name, value in told.items() if name != "prompt"
    ]
    raw = [b'{"prompt": "%s' % WORD.encode(), b'["%s"]' % WORD.encode(), WORD.encode() * 100_000]
    keys = [STRANGER.text, f"spk_{HOUSE.id}_{STRANGER.secret}", WORD, ADMIN.text]
    typed = {**bearer(HOUSE), "Content-Type": "application/json"}
    answers += [await client.ask("POST", PATH, data=io.BytesIO(body), headers=typed) for body in raw]
    for key in keys:
        headers = {"Authorization": f"Bearer {key}"}
        answers.append(await client.ask("POST", PATH, json={"prompt": WORD}, headers=headers))
        answers.append(await client.ask("GET", "/admin/state", headers=headers))
    answers.append(await client.make(WORD, {"Spillover-Class": "kanarienvogelklasse"}))
    answers.append(await client.make(WORD, {"X-Request-Id": f"{WORD} {HOUSE.secret}"}, n=0))
    answers.append(await client.make(WORD, {"traceparent": WORD}, n=0))
    answers.append(await client.make(WORD, model=f"{WORD}-model"))
    answers.append(await client.admin("PUT", "/admin/flags/pool/onprem", json={"reason": "", WORD: WORD}))
    return [answer for answer in answers if answer.status != 200]


async def failures(running: Stack, client: Client) -> list[Answered]:
    """Back ends that fail in every way, at home and abroad."""
    answers = []
    for fault in WORKER_FAULTS:
        await with_fault(client, running.worker_urls, fault)
        answers.append(await client.make(f"{WORD} {fault['kind']}", {"Spillover-Deadline": "8"}))
    await with_fault(client, running.worker_urls)
    assert (await client.admin("PUT", "/admin/flags/pool/onprem", json={"reason": "a test"})).status == 200
    for fault in FAL_FAULTS:
        await with_fault(client, [running.fal_url], fault)
        answers.append(await client.make(f"{WORD} {fault['kind']}", {"Spillover-Deadline": "4"}))
    await with_fault(client, [running.fal_url])
    at_home = Client(client.session, client.url, PRIVATE)  # with the house closed, it has nowhere to go
    answers.append(await at_home.make(WORD, {"Spillover-Deadline": "1"}))
    assert (await client.admin("DELETE", "/admin/flags/pool/onprem")).status == 200
    return [answer for answer in answers if answer.status != 200]


async def with_fault(client: Client, urls: list[str], *faults: dict[str, Any]) -> None:
    """Every emulator at these addresses fails like this from now on."""
    for url in urls:
        specs = [{"times": -1, **fault} for fault in faults]
        async with client.session.post(f"{url}/_emulator/faults", json=specs) as reply:
            assert reply.status == 200, await reply.text()


def everything(answer: Answered) -> dict[str, Any]:
    return {"headers": answer.headers, "body": answer.body}


def pieces(image: str) -> Iterator[str]:
    """Parts of an image as text and as base64, long enough to be nobody else's."""
    yield image[400:440]
    yield image[-60:-20]
    yield repr(base64.b64decode(image)[300:330])[2:-1]


def found(needles: dict[str, str], places: dict[str, Any]) -> Iterator[Find]:
    for place, content in places.items():
        for text in rawstore.strings(content):
            for name, needle in needles.items():
                at = text.lower().find(needle.lower())
                if at >= 0:
                    yield Find(name, place, text[max(0, at - 150) : at + 80])
