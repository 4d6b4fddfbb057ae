"""Claims, flags, the overview and the audit, as an operator's tool sees them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.api.deployment import ADMIN, House
from tests.api.raw import talk

ORDER = {"nodes": ["node-0"], "owner": "train-1", "reason": "a run"}


async def test_a_claim_from_its_order_to_its_end(small: House) -> None:
    made = await small.admin("POST", "/admin/claims", json=ORDER, headers={"Spillover-Actor": "ann <x>"})
    claim = made.json()
    assert made.status_code == 201
    assert (claim["nodes"], claim["owner"], claim["phase"]) == (["node-0"], "train-1", "draining")
    assert claim["actor"] == f"{ADMIN.id}:ann__x_"
    await small.until(lambda: phase_is(small, claim["id"], "held"))
    state = (await small.admin("GET", "/admin/state")).json()
    assert [node["state"] for node in state["nodes"]] == ["held", "open"]
    assert [found["id"] for found in state["claims"]] == [claim["id"]]
    released = await small.admin("DELETE", f"/admin/claims/{claim['id']}")
    assert released.status_code == 200
    assert released.json()["phase"] in ("releasing", "released")
    await small.until(lambda: phase_is(small, claim["id"], "released"))
    assert (await small.admin("GET", "/admin/claims")).json() == {"claims": []}
    everything = (await small.admin("GET", "/admin/claims", params={"all": "true"})).json()
    assert [found["phase"] for found in everything["claims"]] == ["released"]
    audit = (await small.admin("GET", "/admin/audit", params={"count": 50})).json()["entries"]
    assert [entry["action"] for entry in audit][-1] == "claim_opened"
    assert len((await small.admin("GET", "/admin/audit", params={"count": 1})).json()["entries"]) == 1


async def test_a_second_claim_of_the_same_owner(small: House) -> None:
    first = (await small.admin("POST", "/admin/claims", json=ORDER)).json()
    second = await small.admin("POST", "/admin/claims", json=ORDER)
    assert (second.status_code, second.json()["code"]) == (409, "claim_conflict")
    assert second.json()["claim"]["id"] == first["id"]


async def test_an_unknown_node_names_the_nearest(shared: House) -> None:
    reply = await shared.admin("POST", "/admin/claims", json=ORDER | {"nodes": ["node-0", "nod-1"]})
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert reply.json()["unknown"] == ["nod-1"]
    assert "node-" in reply.json()["detail"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_an_unknown_claim(shared: House, method: str) -> None:
    reply = await shared.admin(method, "/admin/claims/clm_nothing")
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"nodes": []}, "nodes"),
        ({"nodes": "node-0"}, "nodes"),
        ({"nodes": [1]}, "nodes[0]"),
        ({"owner": ""}, "owner"),
        ({"owner": "a\nb"}, "owner"),
        ({"reason": None}, "reason"),
        ({"grace_s": -1}, "grace_s"),
        ({"notice_s": 1e12}, "notice_s"),
        ({"ttl_s": 0}, "ttl_s"),
        ({"force": True}, "force"),
    ],
)
async def test_a_wrong_order_is_refused_by_its_field(
    shared: House, changes: dict[str, Any], param: str
) -> None:
    reply = await shared.admin("POST", "/admin/claims", json=ORDER | changes)
    assert reply.status_code == 422, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.json()["code"], reply.json()["param"]) == ("validation_error", param)


@pytest.mark.parametrize("body", [b"{", b"", b"[]", b'{"nodes": NaN}', b"[" * 50_000])
async def test_a_broken_order_is_refused(shared: House, body: bytes) -> None:
    reply = await shared.admin(
        "POST", "/admin/claims", content=body, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code in (400, 422)
    assert reply.json()["code"] in ("invalid_json", "validation_error")


async def test_a_giant_order_is_refused(shared: House) -> None:
    reply = await shared.admin("POST", "/admin/claims", json=ORDER | {"reason": "x" * 2_000_000})
    assert (reply.status_code, reply.json()["code"]) == (413, "payload_too_large")
    head = f"POST /admin/claims HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN.text}\r\n"
    kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    chunked = await talk(shared.url, (head + kind).encode(), *[chunk] * 17)
    assert (chunked.status, chunked.json["code"]) == (413, "payload_too_large")


async def test_a_flag_on_a_node(small: House) -> None:
    made = await small.admin("PUT", "/admin/flags/node/node-1", json={"reason": "smells", "expires_s": None})
    flag = made.json()
    assert made.status_code == 200
    assert (flag["kind"], flag["name"], flag["reason"], flag["expires_at"]) == (
        "node",
        "node-1",
        "smells",
        None,
    )
    state = (await small.admin("GET", "/admin/state")).json()
    assert [node["state"] for node in state["nodes"]] == ["open", "flagged"]
    assert state["flags"] == [flag]
    await small.until(lambda: closed(small, "worker-1"))
    assert (await small.admin("GET", "/admin/flags")).json() == {"flags": [flag]}
    for _ in range(2):
        cleared = await small.admin("DELETE", "/admin/flags/node/node-1")
        assert (cleared.status_code, cleared.json()) == (200, {"cleared": "node/node-1"})
    assert (await small.admin("GET", "/admin/flags")).json() == {"flags": []}


async def test_a_flag_is_written_over_only_by_who_has_seen_it(small: House) -> None:
    first = (await small.admin("PUT", "/admin/flags/model/krea", json={"reason": "one"})).json()
    stale = await small.admin(
        "PUT", "/admin/flags/model/krea", json={"reason": "two", "revision": first["revision"] + 7}
    )
    assert (stale.status_code, stale.json()["code"]) == (409, "revision_conflict")
    assert stale.json()["standing"]["reason"] == "one"
    fresh = await small.admin(
        "PUT", "/admin/flags/model/krea", json={"reason": "two", "revision": first["revision"]}
    )
    assert (fresh.status_code, fresh.json()["reason"]) == (200, "two")


@pytest.mark.parametrize(
    ("path", "hint"),
    [("node/node-9", "node-"), ("nodes/node-0", "node"), ("pool/huse", "house"), ("model/x", "krea")],
)
async def test_an_unknown_thing_names_the_nearest(shared: House, path: str, hint: str) -> None:
    reply = await shared.admin("PUT", f"/admin/flags/{path}", json={"reason": "a test"})
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert hint in reply.json()["detail"]


async def test_the_overview(slow: House) -> None:
    running = asyncio.create_task(slow.make())
    await slow.until(lambda: slots(slow, "leased", 1))
    state = (await slow.admin("GET", "/admin/state")).json()
    (pool,) = state["pools"]
    (worker,) = pool["workers"]
    (account,) = state["accounts"]
    assert (state["ready"], state["draining"], state["in_flight"], state["waiting"]) == (True, False, 1, 0)
    assert state["replica"] == slow.replica.name
    assert state["store"]["silent_s"] < 1
    assert pool["slots"] == {"total": 1, "free": 0, "leased": 1, "offered": 0, "ghost": 0}
    assert (worker["id"], worker["node"], worker["up"], worker["leased"]) == ("worker-0", "node-0", True, 1)
    assert (account["name"], account["budget_usd"], account["cooling_until"]) == ("fal", 5.0, None)
    assert state["nodes"] == [
        {"name": "node-0", "rack": "a", "nvlink_domain": "", "state": "open", "pools": ["house"]}
    ]
    assert state["alarms"] == []
    assert "prompt" not in str(state)
    assert (await running).status_code == 200


async def test_an_overdue_claim_is_an_alarm(small: House) -> None:
    order = ORDER | {"ttl_s": 0.05}
    claim = (await small.admin("POST", "/admin/claims", json=order)).json()
    await small.until(lambda: alarmed(small, claim["id"]))


async def test_the_openapi_document(shared: House) -> None:
    found = (await shared.admin("GET", "/openapi.json")).json()
    assert {"/v1/images/generations", "/v1/models", "/admin/claims", "/livez"} <= found["paths"].keys()
    body = found["components"]["schemas"]["GenerationBody"]
    assert body["required"] == ["prompt"]
    assert {"prompt", "seed", "loras", "background"} <= body["properties"].keys()


async def phase_is(house: House, claim: str, phase: str) -> bool:
    return bool((await house.admin("GET", f"/admin/claims/{claim}")).json()["phase"] == phase)


async def closed(house: House, worker: str) -> bool:
    state = (await house.admin("GET", "/admin/state")).json()
    return any(found["id"] == worker and found["closed"] for found in state["pools"][0]["workers"])


async def slots(house: House, name: str, count: int) -> bool:
    state = (await house.admin("GET", "/admin/state")).json()
    return bool(state["pools"][0]["slots"][name] == count)


async def alarmed(house: House, claim: str) -> bool:
    state = (await house.admin("GET", "/admin/state")).json()
    return any(alarm["subject"] == claim for alarm in state["alarms"])
