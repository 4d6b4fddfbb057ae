"""An answer that ends a request early: status, body and headers, raised from anywhere below a route."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response


@dataclass
class Refused(Exception):
    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


async def answer_refusal(_request: Request, error: Exception) -> Response:
    """Starlette exception handler for `Refused`."""
    assert isinstance(error, Refused)
    return JSONResponse(dict(error.body), error.status, dict(error.headers))


def detail(status: int, text: str) -> Refused:
    """FastAPI's usual error shape."""
    return Refused(status, {"detail": text})
