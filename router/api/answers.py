"""From an `Answer` to a reply: OpenAI's body with the routing facts in it, and the same facts as headers.

Images are base64 text already. They are written as they are, piece by piece, and never pass through a JSON
encoder: that would cost ten milliseconds for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from providers.contract import Image
from providers.images import has_base64_letters_only
from router.api.refusals import TABLE, Refusal
from router.api.replies import SAFE, Header, Reply, refused
from router.model.ticket import Ticket
from router.serving.answer import Answer

PIECE = 256 * 1024
"""What is written at once: a slow reader holds up no more than this."""

_BEFORE, _AFTER = b'{"b64_json":"', b'","revised_prompt":null}'


def made(answer: Answer, ticket: Ticket, request_id: str, created: int, extra: tuple[Header, ...]) -> Reply:
    """The images. Raises a `Refusal` if one of them would break out of its JSON string."""
    if not all(has_base64_letters_only(image.b64) for image in answer.images):
        raise Refusal("upstream_error", retryable=False)
    head = msgspec.json.encode(_document(answer, ticket, request_id, created))[:-1] + b',"data":['
    commas = max(0, len(answer.images) - 1)
    length = len(head) + commas + len(b"]}")
    length += sum(len(_BEFORE) + len(image.b64) + len(_AFTER) for image in answer.images)
    headers = (
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % length),
        *SAFE,
        (b"x-request-id", request_id.encode("ascii")),
        *facts(answer, ticket.id),
        *extra,
    )
    return Reply(200, headers, _pieces(head, answer.images))


def not_made(
    answer: Answer, ticket: Ticket, path: str, request_id: str, param: str | None, extra: tuple[Header, ...]
) -> Reply:
    """The refusal that the answer is, with the facts as far as there are any."""
    refusal = refusal_of(answer, param)
    reply = refused(refusal, path, request_id, ticket.id)
    return Reply(reply.status, (*reply.headers, *facts(answer, ticket.id), *extra), reply.chunks)


def refusal_of(answer: Answer, param: str | None = None) -> Refusal:
    """Back ends' own codes are all one to clients. After a paid attempt none invites a retry."""
    code = answer.reason if answer.reason in TABLE else "upstream_error"
    retryable = TABLE[code].retryable and answer.retryable and not answer.paid
    return Refusal(code, param=param, retryable=retryable, retry_after_s=answer.retry_after_s)


def facts(answer: Answer, job_id: str) -> tuple[Header, ...]:
    """Where it ran and why, for clients that drop what they do not know of the body."""
    known = {
        b"spillover-job-id": job_id,
        b"spillover-route": answer.route,
        b"spillover-pool": answer.pool,
        b"spillover-attempts": str(answer.attempts),
        b"spillover-reason": answer.why or answer.reason,
        b"spillover-missing": str(answer.missing) if answer.images and answer.missing else "",
        b"server-timing": f"queue;dur={answer.queued_s * 1000:.1f}, run;dur={answer.ran_s * 1000:.1f}",
    }
    return tuple((name, value.encode("latin-1")) for name, value in known.items() if value)


def _document(answer: Answer, ticket: Ticket, request_id: str, created: int) -> dict[str, Any]:
    generation = ticket.generation
    return {
        "created": created,
        "output_format": generation.output_format,
        "size": f"{generation.width}x{generation.height}",
        "spillover": {
            "job_id": ticket.id,
            "request_id": request_id,
            "route": answer.route,
            "pool": answer.pool,
            "attempts": answer.attempts,
            "reason": answer.why,
            "queue_ms": round(answer.queued_s * 1000, 1),
            "run_ms": round(answer.ran_s * 1000, 1),
            "seed": answer.seed,
            "cost_usd": answer.spent / 1_000_000,
            **({"missing": answer.missing, "missing_reason": answer.reason} if answer.missing else {}),
        },
    }


def _pieces(head: bytes, images: tuple[Image, ...]) -> Iterator[bytes]:
    yield head
    for place, image in enumerate(images):
        yield b"," + _BEFORE if place else _BEFORE
        for start in range(0, len(image.b64), PIECE):
            yield image.b64[start : start + PIECE].encode("ascii")
        yield _AFTER
    yield b"]}"
