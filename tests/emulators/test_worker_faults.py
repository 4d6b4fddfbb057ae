"""Every fault of a worker does what its name says, as often as it says, to the prompts it names."""

from __future__ import annotations

import asyncio
import base64
import io
from typing import Any

import httpx
import pytest
from PIL import Image

from loadtests.emulators import Fleet, Speed, read_marks, sglang_workers


def first_picture(reply: httpx.Response) -> bytes:
    return base64.b64decode(reply.json()["data"][0]["b64_json"])


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("error500", 500, "no output"),
        ("oom", 500, "CUDA out of memory"),
        ("busy409", 409, "being processed"),
        ("error503", 503, "Unavailable"),
    ],
)
async def test_error_replies(fleet: Fleet, ask: Any, kind: str, status: int, words: str) -> None:
    await fleet.set_faults({"kind": kind})
    reply = await ask(fleet.urls[0])
    assert reply.status_code == status
    assert words in reply.json()["detail"]
    assert (await ask(fleet.urls[0])).status_code == 200


async def test_a_failed_generation_is_in_the_ledger(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "oom"})
    await ask(fleet.urls[0], job="a")
    await fleet.ledger.until(lambda rows: rows.count("delivered") == 1)
    kinds = [row["kind"] for row in fleet.ledger.rows(job="a")]
    assert kinds == ["received", "started", "failed", "delivered"]


async def test_a_refused_request_takes_no_slot(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "error503"})
    await ask(fleet.urls[0], job="a")
    assert [row["kind"] for row in fleet.ledger.rows(job="a")] == ["received", "refused"]


async def test_slow(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "slow", "factor": 10})
    await ask(fleet.urls[0])
    (row,) = fleet.ledger.rows("finished")
    assert row["seconds"] >= 0.2


async def test_hang_keeps_the_slot_until_reset(fleet: Fleet, ask: Any, http: httpx.AsyncClient) -> None:
    await fleet.set_faults({"kind": "hang", "match_prompt": "stuck"})
    async with asyncio.TaskGroup() as group:
        stuck = group.create_task(ask(fleet.urls[0], "stuck"))
        await fleet.ledger.until(lambda rows: rows.count("started") == 1)
        behind = group.create_task(ask(fleet.urls[0], "behind"))
        await fleet.ledger.until(lambda rows: rows.count("received") == 2)
        assert (await http.get(f"{fleet.urls[0]}/health")).status_code == 200
        with pytest.raises(httpx.TimeoutException):
            await http.get(f"{fleet.urls[0]}/stats", timeout=0.2)
        assert fleet.ledger.count("finished", "failed") == 0
        await fleet.set_faults()
    assert (stuck.result().status_code, behind.result().status_code) == (500, 200)


async def test_garbage(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "garbage"})
    reply = await ask(fleet.urls[0])
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    with pytest.raises(ValueError, match="Expecting value"):
        reply.json()


async def test_empty_data(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "empty_data"})
    reply = await ask(fleet.urls[0])
    assert (reply.status_code, reply.json()["data"]) == (200, [])


async def test_truncated_image(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "truncated_image"})
    with pytest.raises(ValueError, match="truncated"):
        read_marks(first_picture(await ask(fleet.urls[0])))


async def test_not_an_image(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "not_an_image"})
    assert first_picture(await ask(fleet.urls[0])).startswith(b"<!DOCTYPE html>")


async def test_wrong_size(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "wrong_size"})
    png = first_picture(await ask(fleet.urls[0], job="a"))
    with Image.open(io.BytesIO(png)) as image:
        assert image.size == (32, 32)
    assert read_marks(png)["spillover-job"] == "a"


async def test_reply_lost_after_the_work(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "reply_lost"})
    with pytest.raises(httpx.TransportError):
        await ask(fleet.urls[0], job="a")
    await fleet.ledger.until(lambda rows: rows.count("undelivered") == 1)
    kinds = [row["kind"] for row in fleet.ledger.rows(job="a")]
    assert kinds == ["received", "started", "finished", "undelivered"]


async def test_reset_after_bytes(fleet: Fleet, http: httpx.AsyncClient) -> None:
    await fleet.set_faults({"kind": "reset_after_bytes", "bytes": 100})
    body = {"prompt": "p", "size": "64x64", "response_format": "b64_json"}
    got = bytearray()

    async def read() -> None:
        async with http.stream("POST", f"{fleet.urls[0]}/v1/images/generations", json=body) as reply:
            assert reply.status_code == 200
            async for piece in reply.aiter_bytes():
                got.extend(piece)

    with pytest.raises(httpx.TransportError):
        await read()
    assert len(got) == 100
    await fleet.ledger.until(lambda rows: rows.count("undelivered") == 1)


async def test_slow_body_drips(fleet: Fleet, ask: Any) -> None:
    await fleet.set_faults({"kind": "slow_body", "piece": 1024, "pause_s": 0.01})
    reply = await ask(fleet.urls[0])
    await fleet.ledger.until(lambda rows: rows.count("delivered") == 1)
    (finished,), (delivered,) = fleet.ledger.rows("finished"), fleet.ledger.rows("delivered")
    assert delivered["at"] - finished["at"] > 0.01 * len(reply.content) / 1024
    assert read_marks(first_picture(reply))


async def test_a_client_that_leaves_a_slow_body_is_not_served(fleet: Fleet, http: httpx.AsyncClient) -> None:
    await fleet.set_faults({"kind": "slow_body", "piece": 256, "pause_s": 0.02})
    body = {"prompt": "p", "size": "64x64", "response_format": "b64_json"}
    async with http.stream("POST", f"{fleet.urls[0]}/v1/images/generations", json=body) as reply:
        assert reply.status_code == 200
    await fleet.ledger.until(lambda rows: rows.count("undelivered") == 1)


async def test_die_drops_everything_and_restart_is_a_new_boot(
    steady: Speed, ask: Any, http: httpx.AsyncClient
) -> None:
    async with sglang_workers(1, speed=steady) as fleet:
        url, worker = fleet.urls[0], fleet.workers[0]
        boot = worker.life.boot_id
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(broken(ask(url, f"p{number}"))) for number in range(2)]
            await fleet.ledger.until(lambda rows: rows.count("received") == 2)
            reply = await http.post(f"{url}/_emulator/faults", json=[{"kind": "die", "restart_after_s": 0.1}])
            assert reply.status_code == 200
        assert all(call.result() for call in calls)
        with pytest.raises(httpx.ConnectError):
            await http.get(f"{url}/health")
        await fleet.ledger.until(lambda rows: rows.count("restarted") == 1)
        (died,) = fleet.ledger.rows("died")
        assert (died["running"], died["waiting"], died["boot"]) == (1, 1, boot)
        state = (await http.get(f"{url}/_emulator/state")).json()
        assert state["boot_id"] != boot
        assert (state["running"], state["waiting"]) == (0, 0)
        assert (await http.get(f"{url}/stats")).status_code == 200
        assert (await ask(url)).status_code == 200
        assert fleet.ledger.count("finished") == 1


async def test_die_midway_takes_the_matching_generation_with_it(
    steady: Speed, ask: Any, http: httpx.AsyncClient
) -> None:
    async with sglang_workers(1, speed=steady) as fleet:
        await fleet.set_faults({"kind": "die_midway", "match_prompt": "doomed"})
        assert (await ask(fleet.urls[0], "fine")).status_code == 200
        assert await broken(ask(fleet.urls[0], "doomed", job="d"))
        assert [row["kind"] for row in fleet.ledger.rows(job="d")] == ["received", "started"]
        assert fleet.ledger.count("died") == 1
        await fleet.workers[0].restart()
        assert (await http.get(f"{fleet.urls[0]}/health")).status_code == 200


async def test_a_worker_that_dies_while_warming_forgets_held_requests(quick: Speed, ask: Any) -> None:
    async with sglang_workers(1, speed=quick, warm_up_s=30) as fleet:
        async with asyncio.TaskGroup() as group:
            call = group.create_task(broken(ask(fleet.urls[0])))
            await fleet.ledger.until(lambda rows: rows.count("received") == 1)
            await fleet.workers[0].die()
        assert call.result()
        assert fleet.ledger.count("started") == 0


async def test_dying_and_restarting_twice_is_once(fleet: Fleet, ask: Any) -> None:
    worker = fleet.workers[0]
    for _ in range(2):
        await worker.die()
    for _ in range(2):
        await worker.restart()
    assert (await ask(fleet.urls[0])).status_code == 200
    assert (fleet.ledger.count("died"), fleet.ledger.count("restarted")) == (1, 1)


async def test_warming_holds_requests(fleet: Fleet, ask: Any, http: httpx.AsyncClient) -> None:
    await fleet.set_faults({"kind": "warming", "seconds": 0.2})
    await fleet.ledger.until(lambda rows: not fleet.workers[0].life.warm)
    assert (await http.get(f"{fleet.urls[0]}/health")).status_code == 503
    assert (await ask(fleet.urls[0])).status_code == 200


async def test_a_failed_backend_answers_503_everywhere(
    fleet: Fleet, ask: Any, http: httpx.AsyncClient
) -> None:
    await fleet.set_faults({"kind": "backend_failed", "error": "scheduler exited"})
    assert (await ask(fleet.urls[0])).status_code == 503
    health = await http.get(f"{fleet.urls[0]}/health")
    assert (health.status_code, health.json()) == (503, {"status": "unhealthy", "error": "scheduler exited"})
    assert (await http.get(f"{fleet.urls[0]}/stats")).status_code == 503
    await fleet.workers[0].die()
    await fleet.workers[0].restart()
    assert (await ask(fleet.urls[0])).status_code == 200


async def test_faults_are_switched_and_read_over_http(
    fleet: Fleet, ask: Any, http: httpx.AsyncClient
) -> None:
    faults = f"{fleet.urls[0]}/_emulator/faults"
    two = [{"kind": "oom", "times": -1, "match_prompt": "big"}, {"kind": "error500", "times": 1}]
    assert (await http.post(faults, json=two)).status_code == 200
    assert [(await ask(fleet.urls[0], "big")).status_code for _ in range(2)] == [500, 500]
    assert [fault["kind"] for fault in (await http.get(faults)).json()["faults"]] == ["oom"]
    assert (await http.post(faults, json=[])).json() == {"faults": []}
    assert (await ask(fleet.urls[0], "big")).status_code == 200
    rows = (await http.get(f"{fleet.urls[0]}/_emulator/ledger?kind=failed,finished")).json()["rows"]
    assert [row["kind"] for row in rows] == ["failed", "failed", "finished"]


@pytest.mark.parametrize("bad", [[{"kind": "nonsense"}], [{"kind": "oom", "times": "x"}], ["oom"], [{}]])
async def test_an_unknown_fault_is_refused(fleet: Fleet, http: httpx.AsyncClient, bad: list[Any]) -> None:
    reply = await http.post(f"{fleet.urls[0]}/_emulator/faults", json=bad)
    assert reply.status_code == 400
    assert reply.json()["detail"]


async def broken(call: Any) -> bool:
    """Whether the call ended without a reply."""
    try:
        await call
    except httpx.TransportError:
        return True
    return False
