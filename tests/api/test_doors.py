"""Which key opens which path: every route but the probes is shut to strangers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from router.api.application import described
from router.api.images import PATH
from router.api.tenants import Keyring
from tests.api.deployment import (
    ADMIN,
    CLIENT,
    DISABLED,
    METRICS,
    House,
    back_ends,
    bearer,
    document,
    house,
)

OPEN = {"/livez", "/readyz"}


def routes(house: House) -> Iterator[tuple[str, str]]:
    """Every method of every path that is served."""
    gate = house.replica.parts.gate
    yield "POST", PATH
    for route in walked(described(gate, Keyring(gate.config)).routes):
        for method in sorted(route.methods):
            yield method, route.path


def walked(found: Any) -> Iterator[APIRoute]:
    for route in found:
        if isinstance(route, APIRoute):
            yield route
        else:
            yield from walked(route.original_router.routes)


async def test_every_route_is_shut_without_a_key(shared: House) -> None:
    seen = list(routes(shared))
    published = (await shared.admin("GET", "/openapi.json")).json()["paths"]
    assert {path for _, path in seen} == {*published, "/openapi.json"}
    for method, path in seen:
        place = path.format(name="krea", claim_id="c", kind="node")
        for headers in ({}, bearer(DISABLED), {"Authorization": "Bearer nobody"}):
            reply = await shared.http.request(method, place, headers=headers)
            assert reply.status_code == (200 if path in OPEN else 401), (method, path)
            if path not in OPEN:
                assert reply.headers["www-authenticate"] == "Bearer"
                assert reply.headers["content-type"].startswith("application/")
                assert "unauthenticated" in reply.text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", PATH, {CLIENT}),
        ("GET", "/v1/models", {CLIENT, ADMIN, METRICS}),
        ("GET", "/openapi.json", {CLIENT, ADMIN, METRICS}),
        ("GET", "/metrics", {ADMIN, METRICS}),
        ("GET", "/admin/state", {ADMIN}),
        ("GET", "/admin/audit", {ADMIN}),
        ("GET", "/admin/claims", {ADMIN}),
        ("POST", "/admin/claims", {ADMIN}),
        ("GET", "/admin/flags", {ADMIN}),
        ("PUT", "/admin/flags/node/node-0", {ADMIN}),
        ("DELETE", "/admin/flags/node/node-0", {ADMIN}),
        ("DELETE", "/admin/claims/c", {ADMIN}),
    ],
)
async def test_a_key_opens_what_its_scopes_say(
    shared: House, method: str, path: str, allowed: set[Any]
) -> None:
    for key in (CLIENT, ADMIN, METRICS):
        reply = await shared.http.request(method, path, headers=bearer(key))
        if key in allowed:
            assert reply.status_code not in (401, 403)
        else:
            assert reply.status_code == 403
            assert "forbidden" in reply.text


async def test_metrics_are_open_on_a_developers_machine(redis_url: str) -> None:
    async with back_ends(workers=1) as (fleet, fal):
        content = document(redis_url, fleet.urls, fal.url)
        content["keys"] = [key for key in content["keys"] if "metrics" not in key["scopes"]]
        async with house(content, fleet, fal) as running:
            reply = await running.http.get("/metrics")
            assert reply.status_code == 200
            assert reply.headers["content-type"].startswith("text/plain")
            assert b"spillover" in reply.content


@pytest.mark.parametrize("path", ["/nothing", "/admin/nothing", "/v1/nothing", "/v1", "/docs", "/redoc"])
async def test_errors_of_the_framework_have_our_shape(shared: House, path: str) -> None:
    reply = await shared.http.get(path)
    assert reply.status_code == 404
    assert_shape(path, reply, "not_found")


@pytest.mark.parametrize("path", ["/livez", "/v1/models", "/admin/state"])
async def test_wrong_methods_have_our_shape(shared: House, path: str) -> None:
    reply = await shared.admin("PATCH", path)
    assert reply.status_code == 405
    assert reply.headers["allow"] == "GET"
    assert_shape(path, reply, "method_not_allowed")


def assert_shape(path: str, reply: Any, code: str) -> None:
    body = reply.json()
    if path.startswith("/v1"):
        assert body["error"]["code"] == code
    else:
        assert reply.headers["content-type"] == "application/problem+json"
        assert body["code"] == code
    assert reply.headers["x-request-id"]
    assert reply.headers["cache-control"] == "no-store"
