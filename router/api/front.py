"""The first thing a request meets: its id, a cap on its headers, and the fork between images and the rest.

Images go straight to their own ASGI callable: FastAPI's routing costs as much as all the rest of their path.
"""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from router.api import images
from router.api.refusals import Refusal
from router.api.replies import SAFE, refused
from router.api.request_ids import REQUEST_ID, request_id

CLOSE = (("connection", "close"),)

log = logging.getLogger("spillover.http")


class Front:
    """The whole ASGI app of a replica."""

    def __init__(self, generations: ASGIApp, rest: ASGIApp, header_bytes: int) -> None:
        self._generations = generations
        self._rest = rest
        self._header_bytes = header_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        size, sent_id = 0, None
        for name, value in scope["headers"]:
            size += len(name) + len(value) + 4
            if name == b"x-request-id":
                sent_id = value
        scope[REQUEST_ID] = request_id(sent_id)
        if size > self._header_bytes:
            refusal = Refusal("headers_too_large", headers=CLOSE)
            await refused(refusal, scope["path"], scope[REQUEST_ID]).send(send)
        elif scope["path"] == images.PATH:
            await self._generations(scope, receive, send)
        else:
            await self._guarded(scope, receive, _marked(send, scope[REQUEST_ID]))

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """FastAPI answers an unexpected failure with our 500 and raises it again: it is told once, here."""
        try:
            await self._rest(scope, receive, send)
        except Exception:
            log.exception("a request failed", extra={"request_id": scope[REQUEST_ID]})


def _marked(send: Send, request_id: str) -> Send:
    """Every reply carries the id of its request, and may be neither cached nor guessed at."""

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            have = {name for name, _ in headers}
            mine = ((b"x-request-id", request_id.encode("ascii")), *SAFE)
            message["headers"] = headers + [pair for pair in mine if pair[0] not in have]
        await send(message)

    return marked
