"""What goes back over the wire: replies as values, and refusals as replies.

Under `/v1` an error has OpenAI's shape; elsewhere it is RFC 9457's problem+json. Both come from one refusal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.types import Send

from router.api.refusals import Refusal

Header = tuple[bytes, bytes]

SAFE: tuple[Header, ...] = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
"""On every reply: nothing here may be cached, or guessed to be of another type."""
LONGEST_WAIT_S = 120.0
"""The official clients give up at once when told to wait longer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `chunks` are sent one by one, so a slow reader holds one of them and not all."""

    status: int
    headers: tuple[Header, ...]
    chunks: Iterable[bytes]

    async def send(self, send: Send) -> None:
        """Writes it out; waits whenever the client reads slowly."""
        await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def refused(refusal: Refusal, path: str, request_id: str, job_id: str | None = None) -> Reply:
    """The refusal in the shape that its path speaks."""
    if path == "/v1" or path.startswith("/v1/"):
        body, media = _openai(refusal, request_id, job_id), b"application/json"
    else:
        body, media = _problem(refusal, path, request_id), b"application/problem+json"
    text = msgspec.json.encode(body)
    headers = (
        (b"content-type", media),
        (b"content-length", b"%d" % len(text)),
        *SAFE,
        (b"x-request-id", request_id.encode("ascii")),
        *_advice(refusal),
        *((name.encode("ascii"), value.encode("latin-1")) for name, value in refusal.headers),
    )
    return Reply(refusal.status, headers, (text,))


def _openai(refusal: Refusal, request_id: str, job_id: str | None) -> dict[str, Any]:
    error = {
        "message": refusal.message,
        "type": refusal.type,
        "param": refusal.param,
        "code": refusal.code,
        "retryable": refusal.retryable,
        "request_id": request_id,
        "job_id": job_id,
    }
    return {"error": error}


def _problem(refusal: Refusal, path: str, request_id: str) -> dict[str, Any]:
    return {
        "type": f"urn:spillover:error:{refusal.code}",
        "title": refusal.code.replace("_", " ").capitalize(),
        "status": refusal.status,
        "detail": refusal.message,
        "code": refusal.code,
        "param": refusal.param,
        "retryable": refusal.retryable,
        "request_id": request_id,
        **refusal.details,
    }


def _advice(refusal: Refusal) -> list[Header]:
    """What the client's SDK reads to decide whether, and when, it asks again."""
    advice = []
    if not refusal.retryable:
        advice.append((b"x-should-retry", b"false"))
    if refusal.status in (429, 503):
        advice.append((b"retry-after", b"%d" % _seconds(refusal.retry_after_s)))
    return advice


def _seconds(wait_s: float | None) -> int:
    return math.ceil(min(max(wait_s or 1.0, 1.0), LONGEST_WAIT_S))
