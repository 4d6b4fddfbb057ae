"""The first thing a request meets: its id, a cap on its headers, and the fork between images and the rest.

Images go straight to their own ASGI callable: FastAPI's routing costs as much as all the rest of their path.
"""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from config.schema import Limits
from router.api import images
from router.api.bodies import CLOSE, capped, check_declared, lingering
from router.api.refusals import Refusal
from router.api.replies import SAFE, refused
from router.api.request_ids import REQUEST_ID, request_id

log = logging.getLogger("spillover.http")


class Front:
    """The whole ASGI app of a replica."""

    def __init__(self, generations: ASGIApp, rest: ASGIApp, limits: Limits) -> None:
        self._generations = generations
        self._rest = rest
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        size, sent = 0, {}
        for name, value in scope["headers"]:
            size += len(name) + len(value) + 4
            sent[name] = value
        scope[REQUEST_ID] = request_id(sent.get(b"x-request-id"))
        try:
            if size > self._limits.header_bytes:
                raise Refusal("headers_too_large", headers=CLOSE)
            if scope["path"] == images.PATH:
                await self._generations(scope, receive, send)
                return
            check_declared(sent.get(b"content-length", b""), self._limits.body_bytes)
        except Refusal as refusal:
            await refused(refusal, scope["path"], scope[REQUEST_ID]).send(lingering(send, receive))
            return
        receive = capped(receive, self._limits.body_bytes)
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
