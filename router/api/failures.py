"""Whatever goes wrong on the paths that FastAPI serves, as a refusal: one shape for every error body."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from config.problems import did_you_mean
from router.api.refusals import Refusal, invalid
from router.api.replies import refused
from router.api.request_ids import REQUEST_ID
from router.fleet.claims import ClaimConflict, UnknownNodes
from router.fleet.flags import UnknownThing
from router.store.control import Conflict
from router.store.link import StoreDown

_BY_STATUS = {
    400: "invalid_json",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
}


def handle(app: FastAPI) -> None:
    """Makes every failure of the app's routes answer in our shape."""
    expected = (Refusal, StoreDown, UnknownNodes, ClaimConflict, UnknownThing, Conflict)
    for kind in (*expected, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _answered)


async def _answered(request: Request, error: Exception) -> Response:
    reply = refused(translated(error), request.scope["path"], request.scope[REQUEST_ID])
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reply.headers}
    return Response(b"".join(reply.chunks), reply.status, headers)


def translated(error: Exception) -> Refusal:
    """The refusal that an exception amounts to; `internal_error` for what nobody expected."""
    match error:
        case Refusal():
            return error
        case StoreDown():
            return Refusal("state_store_unavailable")
        case RequestValidationError():
            return _invalid(error)
        case HTTPException(__cause__=Refusal() as refusal):  # FastAPI's cover of what reading the body raised
            return refusal
        case HTTPException():
            headers = tuple((error.headers or {}).items())
            return Refusal(_BY_STATUS.get(error.status_code, "invalid_request"), headers=headers)
        case _:
            return _of_the_fleet(error) or Refusal("internal_error")


def _of_the_fleet(error: Exception) -> Refusal | None:
    """What the control plane may answer to an operator's change."""
    match error:
        case UnknownNodes():
            return _unknown_nodes(error)
        case UnknownThing():
            return _nothing_named(error.kind, error.name, error.known)
        case ClaimConflict():
            message = f"{error.claim.owner} holds some of these nodes by {error.claim.id}. Release it first."
            return Refusal("claim_conflict", message, details={"claim": asdict(error.claim)})
        case Conflict():
            return Refusal("revision_conflict", details={"standing": error.standing})
        case _:
            return None


def _unknown_nodes(error: UnknownNodes) -> Refusal:
    if not error.names:
        return invalid("nodes", "is empty. Name at least one node.")
    nearest = {name: did_you_mean(name, error.known) for name in error.names}
    words = "; ".join(f"`{name}`: {hint or 'see GET /admin/state'}" for name, hint in nearest.items())
    return Refusal("not_found", f"No node is named {words}", param="nodes", details={"unknown": error.names})


def _nothing_named(kind: str, name: str, known: tuple[str, ...]) -> Refusal:
    hint = did_you_mean(name, known) or f"one of: {', '.join(sorted(known)[:8])}"
    return Refusal("not_found", f"No {kind} is named `{name}`: {hint}", param="name")


def _invalid(error: RequestValidationError) -> Refusal:
    """The first complaint. Only its place and pydantic's words: the value it complains of stays out."""
    first: dict[str, Any] = error.errors()[0]
    if first["type"] == "json_invalid":
        return Refusal("invalid_json")
    place = ""
    for part in first["loc"][1:]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    said = str(first["msg"])
    return invalid(place[:64] or "body", f"is wrong: {said[:1].lower()}{said[1:200]}.")
