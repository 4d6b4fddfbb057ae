"""Images on the wire: valid JSON of the announced length, in small pieces, never encoded again."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from providers.contract import Generation, Image
from router.api.answers import PIECE, made
from router.api.refusals import Refusal
from router.model.ticket import Tenant, Ticket
from router.serving.answer import Answer

TICKET = Ticket("job_1", Generation("krea", "a hill", 64, 48, 4), Tenant("product"), "standard", 0.0, 20.0)


def image(size: int) -> Image:
    return Image(b64encode(bytes(size)).decode(), "image/png", 64, 48)


@pytest.mark.parametrize("sizes", [(), (10,), (10, 3 * PIECE, 30)])
def test_the_body_is_what_was_announced(sizes: tuple[int, ...]) -> None:
    images = tuple(image(size) for size in sizes)
    answer = Answer("done", images, "external", "fal", "onprem_claimed", 2, True, 30_000, 7, 0.25, 1.5)
    reply = made(answer, TICKET, "req_1", 1_700_000_000, ((b"spillover-joined", b"true"),))
    chunks = list(reply.chunks)
    headers = dict(reply.headers)
    body = json.loads(b"".join(chunks))
    assert headers[b"content-length"] == b"%d" % len(b"".join(chunks))
    assert max(len(chunk) for chunk in chunks) <= PIECE
    assert [item["b64_json"] for item in body["data"]] == [found.b64 for found in images]
    assert all(item["revised_prompt"] is None for item in body["data"])
    assert body["spillover"] == {
        "job_id": "job_1",
        "request_id": "req_1",
        "route": "external",
        "pool": "fal",
        "attempts": 2,
        "reason": "onprem_claimed",
        "queue_ms": 250.0,
        "run_ms": 1500.0,
        "seed": 7,
        "cost_usd": 0.03,
    }
    assert (body["created"], body["size"], body["output_format"]) == (1_700_000_000, "64x48", "png")
    assert "usage" not in body
    assert headers[b"spillover-reason"] == b"onprem_claimed"
    assert headers[b"server-timing"] == b"queue;dur=250.0, run;dur=1500.0"
    assert headers[b"spillover-joined"] == b"true"


@pytest.mark.parametrize(
    "text", ['AAAA","usage":{"x":"', "AA\\u0041", "AAé=", "AA\nA", "AA\0A", "AA\x7fA", "A=AA"]
)
def test_text_that_would_break_out_of_its_string_is_not_passed_on(text: str) -> None:
    answer = Answer("done", (Image(text, "image/png", 64, 48),))
    with pytest.raises(Refusal) as refused:
        made(answer, TICKET, "req_1", 0, ())
    assert refused.value.code == "upstream_error"
