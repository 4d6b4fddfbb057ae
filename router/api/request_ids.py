"""The id of a request: the client's own if it is harmless, else a new one."""

from __future__ import annotations

import re
import secrets

REQUEST_ID = "spillover.request_id"
"""Where the id stands in an ASGI scope; put there by `front.Front`."""

_HARMLESS = re.compile(rb"[A-Za-z0-9_-]{1,64}")


def request_id(sent: bytes | None) -> str:
    """What stands in `X-Request-Id` of the answer, in log lines and in errors."""
    if sent is not None and _HARMLESS.fullmatch(sent):
        return sent.decode("ascii")
    return f"req_{secrets.token_hex(10)}"
