"""A failure that nobody expected, and a client that is slower than anybody waits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NoReturn

import httpx
import pytest

from loadtests.emulators import serve
from router.api.application import build, described
from router.api.front import Front
from router.api.gate import Gate
from router.api.images import Images
from router.api.tenants import Keyring
from tests.api.deployment import ADMIN, CLIENT, PATH, House, bearer
from tests.api.raw import read_reply, request


def broken() -> NoReturn:
    raise ZeroDivisionError("secret words")


async def test_a_bug_under_the_images(shared: House, caplog: pytest.LogCaptureFixture) -> None:
    gate = replace(shared.replica.parts.gate, new_id=broken)
    async with serve(build(gate)) as url, httpx.AsyncClient(base_url=url) as http:
        reply = await http.post(PATH, json={"prompt": "a secret hill"}, headers=bearer(CLIENT))
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal_error")
    assert reply.headers["x-should-retry"] == "false"
    assert "secret" not in reply.text
    assert "a request failed" in caplog.text
    assert "secret hill" not in caplog.text


async def test_a_bug_under_the_rest(shared: House, caplog: pytest.LogCaptureFixture) -> None:
    gate = replace(shared.replica.parts.gate, prometheus=broken)
    async with serve(build(gate)) as url, httpx.AsyncClient(base_url=url) as http:
        reply = await http.get("/metrics", headers=bearer(ADMIN))
    assert (reply.status_code, reply.json()["code"]) == (500, "internal_error")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["x-request-id"]
    assert caplog.text.count("a request failed") == 1


async def test_a_body_that_drips(shared: House) -> None:
    gate: Gate = shared.replica.parts.gate
    keyring = Keyring(gate.config)
    app = Front(Images(gate, keyring, patience_s=0.1), described(gate, keyring), gate.config.limits)
    async with serve(app) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
        writer.write(request(b"{", f"Authorization: Bearer {CLIENT.text}", length=100))
        reply = await read_reply(reader)
        writer.close()
    assert (reply.status, reply.json["error"]["code"]) == (408, "request_body_timeout")
    assert reply.closed
