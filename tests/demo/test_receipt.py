"""What counts as a valid picture: a whole PNG, of this job, this prompt and this seed."""

from __future__ import annotations

import base64
import json

from loadtests.demo.receipt import Receipt, read
from loadtests.demo.script import Order
from loadtests.emulators.pictures import picture

ORDER = Order(3, 0.5, 1, "a heron in the reeds", 42, 8, "interactive")
HEADERS = {
    "spillover-job-id": "job_1",
    "spillover-route": "external",
    "spillover-reason": "onprem_claimed",
    "spillover-attempts": "2",
}


def receipt(status: int, body: bytes, headers: dict[str, str] | None = None) -> tuple[Receipt, bytes | None]:
    return read(ORDER, 10.0, 12.5, status, HEADERS if headers is None else headers, body)


def answer(prompt: str = ORDER.prompt, seed: int = ORDER.seed, job: str = "job_1", cut: int = 0) -> bytes:
    png = picture(prompt, seed, 64, 64, 0, job)
    return json.dumps({"data": [{"b64_json": base64.b64encode(png[: len(png) - cut]).decode()}]}).encode()


def test_the_right_picture() -> None:
    got, png = receipt(200, answer())
    assert got == Receipt(
        3, "interactive", 10.0, 12.5, 200, "job_1", "external", "onprem_claimed", 2, fault=""
    )
    assert got.valid
    assert got.seconds == 2.5
    assert png is not None
    assert png.startswith(b"\x89PNG")


def test_somebody_elses_picture() -> None:
    for wrong in (answer(job="job_2"), answer(seed=43), answer(prompt="another")):
        got, png = receipt(200, wrong)
        assert not got.valid
        assert "somebody else's picture" in got.fault
        assert png is None


def test_a_picture_without_a_job_in_the_answer_proves_nothing() -> None:
    got, _ = receipt(200, answer(job=""), {})
    assert "spillover-job" in got.fault


def test_damaged_pictures() -> None:
    assert "truncated PNG" in receipt(200, answer(cut=5))[0].fault
    whole = json.loads(answer())["data"][0]["b64_json"]
    png = bytearray(base64.b64decode(whole))
    png[len(png) // 2] ^= 1
    damaged = json.dumps({"data": [{"b64_json": base64.b64encode(png).decode()}]}).encode()
    assert "bad checksum" in receipt(200, damaged)[0].fault


def test_refusals_and_nonsense() -> None:
    refused = b'{"error": {"code": "no_capacity", "message": "later"}}'
    assert receipt(503, refused)[0].fault == "HTTP 503: no_capacity"
    for body in (b"", b"<html>", b"[]", b'{"data": []}', b'{"data": [{"b64_json": "?"}]}', b'{"error": 1}'):
        for status in (200, 502):
            got, png = receipt(status, body)
            assert got.fault == f"HTTP {status} with a body that holds no single image"
            assert png is None
