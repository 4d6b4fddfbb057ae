"""What SGLang-Diffusion 0.5.23 accepts, refuses, defaults and reports."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from loadtests.emulators import Fleet, read_marks, sglang_workers
from loadtests.emulators.speed import Speed


def pictures(reply: httpx.Response) -> list[bytes]:
    return [base64.b64decode(image["b64_json"]) for image in reply.json()["data"]]


async def test_the_reply_has_the_fields_of_the_server(fleet: Fleet, ask: Any) -> None:
    reply = await ask(fleet.urls[0], "a hill", nobody_knows="this key")
    assert reply.status_code == 200
    body = reply.json()
    assert set(body) == {"id", "created", "data", "peak_memory_mb", "inference_time_s", "usage"}
    assert body["data"][0]["revised_prompt"] == "a hill"
    assert body["data"][0]["file_path"] is None


async def test_the_default_format_is_a_url_and_costs_a_generation(
    fleet: Fleet, http: httpx.AsyncClient
) -> None:
    reply = await http.post(f"{fleet.urls[0]}/v1/images/generations", json={"prompt": "p", "size": "64x64"})
    assert reply.status_code == 400
    assert "cloud storage" in reply.json()["detail"]
    assert fleet.ledger.count("finished") == 1


async def test_the_default_encoding_is_jpeg(fleet: Fleet, ask: Any) -> None:
    (picture,) = pictures(await ask(fleet.urls[0], output_format=None))
    assert picture.startswith(b"\xff\xd8\xff")


@pytest.mark.parametrize(("asked", "given"), [(0, 1), (-3, 1), (3, 3), (50, 10)])
async def test_the_count_is_clamped(fleet: Fleet, ask: Any, asked: int, given: int) -> None:
    reply = await ask(fleet.urls[0], n=asked, size="16x16")
    assert len(reply.json()["data"]) == given


async def test_seeds_may_be_a_list(fleet: Fleet, ask: Any) -> None:
    reply = await ask(fleet.urls[0], n=3, seed=[5, 9])
    assert [read_marks(png)["spillover-seed"] for png in pictures(reply)] == ["5", "9", "10"]


async def test_width_and_height_go_before_size(fleet: Fleet, ask: Any) -> None:
    await ask(fleet.urls[0], width=48, height=32, size="64x64")
    (row,) = fleet.ledger.rows("received")
    assert (row["width"], row["height"]) == (48, 32)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"prompt": None}, 422),
        ({"prompt": 3}, 422),
        ({"n": "two"}, 422),
        ({"seed": "x"}, 422),
        ({"size": "large"}, 400),
        ({"width": 0}, 400),
        ({"num_inference_steps": 0}, 400),
        ({"response_format": "file"}, 400),
    ],
)
async def test_bad_parameters_are_refused(
    fleet: Fleet, ask: Any, fields: dict[str, Any], status: int
) -> None:
    reply = await ask(fleet.urls[0], **fields)
    assert reply.status_code == status
    assert reply.json()["detail"]


async def test_a_body_that_is_no_json_object_is_422(fleet: Fleet, http: httpx.AsyncClient) -> None:
    url = f"{fleet.urls[0]}/v1/images/generations"
    assert (await http.post(url, content=b"{oops")).status_code == 422
    assert (await http.post(url, json=[1])).status_code == 422


async def test_facts(fleet: Fleet, http: httpx.AsyncClient) -> None:
    url, model = fleet.urls[0], fleet.workers[0].settings.model
    info = (await http.get(f"{url}/server_info")).json()
    assert (info["model_path"], info["served_model_name"], info["tp_size"], info["dp_size"]) == (
        model,
        model,
        1,
        1,
    )
    assert "boot_id" not in info
    assert (await http.get(f"{url}/model_info")).json() == {"model_path": model}
    for path in ("/health", "/liveness", "/health_generate"):
        assert (await http.get(url + path)).json() == {"status": "ok"}
    stats = (await http.get(f"{url}/stats")).json()
    assert (stats["status"], stats["disagg"]["role"]) == ("ok", "monolithic")
    assert (await http.get(f"{url}/v1/models/{model}")).json()["id"] == model
    assert (await http.get(f"{url}/v1/models/other")).json()["error"]["code"] == "model_not_found"


async def test_adapters_belong_to_the_server(fleet: Fleet, http: httpx.AsyncClient) -> None:
    url = fleet.urls[0]
    unknown = await http.post(f"{url}/v1/set_lora", json={"lora_nickname": "ink"})
    assert unknown.status_code == 500
    assert (await http.post(f"{url}/v1/set_lora", json={})).status_code == 422
    for name in ("ink", "oil"):
        body = {"lora_nickname": name, "lora_path": f"org/{name}", "strength": 0.7}
        assert (await http.post(f"{url}/v1/set_lora", json=body)).json()["status"] == "ok"
    loras = (await http.get(f"{url}/v1/list_loras")).json()
    assert [lora["nickname"] for lora in loras["loaded_adapters"]] == ["ink", "oil"]
    assert [lora["nickname"] for lora in loras["active"]["transformer"]] == ["oil"]
    await http.post(f"{url}/v1/unmerge_lora_weights", json={})
    assert (await http.get(f"{url}/v1/list_loras")).json()["active"]["transformer"] == []
    await http.post(f"{url}/v1/set_lora", json={"lora_nickname": "ink"})
    await http.post(f"{url}/v1/merge_lora_weights", json={})


async def test_service_time_grows_with_the_work() -> None:
    clock = Speed(fixed_s=1, per_step_mp_s=0.5, time_scale=0.1).clock("w")
    assert clock.seconds(steps=4, width=1000, height=1000, count=3) == pytest.approx(0.7)
    first, again = (Speed(jitter=0.5, seed=3).clock("w") for _ in range(2))
    times = [first.seconds(steps=1, width=1000, height=1000, count=1) for _ in range(5)]
    assert times == [again.seconds(steps=1, width=1000, height=1000, count=1) for _ in range(5)]
    assert len(set(times)) == 5


async def test_posts_during_warm_up_are_held(quick: Speed, ask: Any, http: httpx.AsyncClient) -> None:
    async with sglang_workers(1, speed=quick, warm_up_s=0.3) as fleet:
        assert (await http.get(f"{fleet.urls[0]}/health")).status_code == 503
        assert (await http.get(f"{fleet.urls[0]}/liveness")).status_code == 200
        assert (await ask(fleet.urls[0])).status_code == 200
        assert (await http.get(f"{fleet.urls[0]}/health")).status_code == 200
        (received,), (started,) = fleet.ledger.rows("received"), fleet.ledger.rows("started")
        assert started["at"] - received["at"] > 0.1
