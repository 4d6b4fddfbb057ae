"""How a reply reaches its client, and whether it did.

A server that computes on after a disconnect needs two facts no web framework records: was the client still
there when the work ended, and was the whole reply written to it. Faults of the wire (lost, cut short,
dripping) live here too.
"""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

Write = Callable[[bytes], Awaitable[None]]
Reset = Callable[[Scope], None]
PIECE = 65536


class Cut(Exception):
    """Raised by a delivery that ends the connection instead of the reply."""


Delivery = Callable[[bytes, Write], Awaitable[None]]


async def whole(body: bytes, write: Write) -> None:
    for start in range(0, len(body), PIECE):
        await write(body[start : start + PIECE])


async def lost(body: bytes, write: Write) -> None:
    """The reset comes before the first byte of the reply."""
    raise Cut


def cut_after(count: int) -> Delivery:
    async def cut(body: bytes, write: Write) -> None:
        await write(body[:count])
        raise Cut

    return cut


def dripping(piece: int, pause_s: float) -> Delivery:
    async def drip(body: bytes, write: Write) -> None:
        for start in range(0, len(body), piece):
            await write(body[start : start + piece])
            await asyncio.sleep(pause_s)

    return drip


class Reply(Response):
    """A response sent by a delivery; `ended` is told once whether a connected client was given all of it.

    The client may have read the last byte a moment before `ended` is called.
    """

    def __init__(
        self,
        body: bytes,
        *,
        reset: Reset,
        ended: Callable[[bool], None],
        status: int = 200,
        media_type: str = "application/json",
        delivery: Delivery = whole,
    ) -> None:
        super().__init__(body, status, media_type=media_type)
        self._reset = reset
        self._ended = ended
        self._delivery = delivery

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        delivered = False
        try:
            if not await is_gone(receive):
                delivered = await self._deliver(scope, receive, send)
        finally:
            self._ended(delivered)

    async def _deliver(self, scope: Scope, receive: Receive, send: Send) -> bool:
        started = False

        async def write(piece: bytes) -> None:
            nonlocal started
            if await is_gone(receive):
                raise Cut
            if not started:
                started = True
                await send(self._head())
            await send({"type": "http.response.body", "body": piece, "more_body": True})

        try:
            await self._delivery(bytes(self.body), write)
        except Cut:
            self._reset(scope)
            await until_gone(receive)
            return False
        gone = await is_gone(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return not gone

    def _head(self) -> Message:
        return {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}


async def is_gone(receive: Receive) -> bool:
    """Whether the client has disconnected, without waiting. Only for requests whose body has been read."""
    message: Message = {"type": "nothing"}
    with anyio.CancelScope() as scope:
        scope.cancel()
        message = await receive()
    return bool(message["type"] == "http.disconnect")


async def until_gone(receive: Receive) -> None:
    """Return when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
