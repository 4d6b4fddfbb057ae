"""Every way to say no: one table from code to status, OpenAI type, hope of a retry, and the next step.

A refusal travels through the edge as an exception, because FastAPI's dependencies know no other way out;
below the edge refusals are values. Codes may be added; none ever changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

INVALID = "invalid_request_error"
SERVER = "server_error"


@dataclass(frozen=True, slots=True)
class Kind:
    """One row. `retryable`: the same request may succeed later. `message` ends with the next step."""

    status: int
    type: str
    message: str
    retryable: bool = False
    retry_after_s: float | None = None


TABLE: Mapping[str, Kind] = MappingProxyType(
    {
        "invalid_json": Kind(400, INVALID, "The body is not valid JSON. Send one JSON object."),
        "invalid_request": Kind(
            400,
            INVALID,
            "The request cannot be carried out as it stands. Change it; a repetition fails again.",
        ),
        "unsupported_parameter": Kind(
            400,
            INVALID,
            "No back end of this model can honour every parameter. Leave one out, or change model.",
        ),
        "unauthenticated": Kind(
            401,
            "authentication_error",
            "No valid API key. Send `Authorization: Bearer <key>` with a key that is enabled.",
        ),
        "forbidden": Kind(
            403, "permission_error", "This key does not open this path. Use a key with the scope it needs."
        ),
        "not_found": Kind(404, INVALID, "There is nothing at this path. Check its spelling."),
        "model_not_found": Kind(404, INVALID, "There is no such model. See GET /v1/models."),
        "method_not_allowed": Kind(405, INVALID, "This path has no such method. See the header `Allow`."),
        "request_body_timeout": Kind(
            408, INVALID, "The body did not arrive in time. Send it again.", retryable=True
        ),
        "claim_conflict": Kind(
            409, INVALID, "The same owner holds some of these nodes already. Release that claim first."
        ),
        "revision_conflict": Kind(
            409, INVALID, "Somebody else changed this meanwhile. Read it again, then write with its revision."
        ),
        "payload_too_large": Kind(413, INVALID, "The body is too long. Send a shorter one."),
        "unsupported_media_type": Kind(
            415,
            INVALID,
            "The body must be plain JSON. Send `Content-Type: application/json`, not compressed.",
        ),
        "validation_error": Kind(422, INVALID, "A field has a value that it cannot have. Change it."),
        "content_policy": Kind(
            422, INVALID, "The back end's content policy refused this prompt. Change the prompt."
        ),
        "headers_too_large": Kind(431, INVALID, "The headers are too long. Send fewer or shorter ones."),
        "internal_error": Kind(500, SERVER, "Something failed in the router. Report the request id."),
        "upstream_error": Kind(
            502, SERVER, "Every attempt that was allowed has failed. Try again as a new request, later."
        ),
        "no_capacity": Kind(
            503, SERVER, "No slot and no provider can make this in time. Try again later.", True, 15.0
        ),
        "model_off": Kind(
            503, SERVER, "An operator has switched this model off. Try again later.", True, 30.0
        ),
        "overloaded": Kind(
            503, SERVER, "This replica holds as many requests as it may. Try again shortly.", True, 1.0
        ),
        "draining": Kind(503, SERVER, "This replica is ending. Try again; another one answers.", True, 1.0),
        "state_store_unavailable": Kind(
            503, SERVER, "The store of capacity does not answer. Try again shortly.", True, 2.0
        ),
        "not_ready": Kind(503, SERVER, "This replica takes no new traffic. See `reasons`.", True, 1.0),
        "deadline_exceeded": Kind(
            504, SERVER, "The deadline passed before the images were made. Allow more time, or ask for less."
        ),
    }
)


class Refusal(Exception):
    """A `no` on its way to the client. `param` names a field; `details` are extra fields of problem+json."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        param: str | None = None,
        retry_after_s: float | None = None,
        retryable: bool | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(code)
        kind = TABLE[code]
        self.code = code
        self.status = kind.status
        self.type = kind.type
        self.message = message or kind.message
        self.param = param
        self.retryable = kind.retryable if retryable is None else retryable
        self.retry_after_s = kind.retry_after_s if retry_after_s is None else retry_after_s
        self.headers = headers
        self.details = details


def invalid(param: str, message: str) -> Refusal:
    """A field's value that cannot be."""
    return Refusal("validation_error", f"`{param}` {message}", param=param)
