"""Reads a request's body, within a cap and a time: nothing past the cap is read, whatever was declared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import Message, Receive, Send

from router.api.refusals import Refusal

CLOSE = (("connection", "close"),)
"""For connections that are of no more use, such as one with a body that is not read to its end."""


LINGER_S = 2.0
LINGER_BYTES = 16 * 1024 * 1024
"""How long, and how much of it, a client may go on sending a body that was refused."""


class ClientLeft(Exception):
    """The connection ended before the body did."""


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, cap: int, patience_s: float) -> bytes:
    """The whole body. Raises a `Refusal`, or `ClientLeft`."""
    _check_kind(headers)
    check_declared(headers.get(b"content-length", b""), cap)
    try:
        async with asyncio.timeout(patience_s):
            return await _collected(receive, cap)
    except TimeoutError:
        raise Refusal("request_body_timeout", headers=CLOSE) from None


def check_declared(length: bytes, cap: int) -> None:
    """Raises a `Refusal` if a body says of itself that it is too long."""
    if length.isdigit() and (len(length) > 18 or int(length) > cap):
        raise _too_large(cap)


def capped(receive: Receive, cap: int) -> Receive:
    """The same, for whoever reads the body by itself: past the cap reading raises a `Refusal`."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > cap:
            raise _too_large(cap)
        return message

    return counted


def lingering(send: Send, receive: Receive) -> Send:
    """For a refusal that comes before the body has: what still comes is dropped before the connection closes.

    Closing a socket with unread bytes in it resets the connection, and the client loses the refusal with it.
    """

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            await send({**message, "more_body": True})
            await _dropped(receive)
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return sent


async def _dropped(receive: Receive) -> None:
    left = LINGER_BYTES
    try:
        async with asyncio.timeout(LINGER_S):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):  # the end of the body, or of the connection
                    return
    except TimeoutError:
        return


async def _collected(receive: Receive, cap: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > cap:
            raise _too_large(cap)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _check_kind(headers: Mapping[bytes, bytes]) -> None:
    """A missing type passes: some clients send none, and the body is checked anyhow."""
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    plain = headers.get(b"content-encoding", b"identity").strip().lower() in (b"identity", b"")
    if not plain or (media and media != b"application/json" and not media.endswith(b"+json")):
        raise Refusal("unsupported_media_type", headers=CLOSE)


def _too_large(cap: int) -> Refusal:
    return Refusal(
        "payload_too_large", f"The body is longer than {cap} bytes. Send a shorter one.", headers=CLOSE
    )
