"""Servers on raw loopback sockets that do exactly what a test says, and write down what they were sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from providers.contract import Call, Event, Failed, Generation, Outcome, Produced, Provider


@dataclass
class Received:
    """One request as it came off the wire."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    @property
    def method(self) -> str:
        return self.line.split(" ")[0]

    def json(self) -> dict[str, object]:
        decoded: dict[str, object] = json.loads(self.body)
        return decoded


@dataclass
class Wire:
    """One connection, given to the script after each request."""

    writer: asyncio.StreamWriter
    received: Received

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """RST instead of FIN."""
        peer = self.writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self) -> None:
        self.writer.close()


Script = Callable[[Wire], Awaitable[None]]


@dataclass
class Raw:
    """What a scripted server has seen."""

    url: str = ""
    connections: int = 0
    open: int = 0
    bytes_in: int = 0
    requests: list[Received] = field(default_factory=list)
    _closed: asyncio.Event = field(default_factory=asyncio.Event)

    def close_one(self) -> None:
        self.open -= 1
        self._closed.set()
        self._closed = asyncio.Event()

    async def until_closed(self, connections: int = 1) -> None:
        """Return when so many connections were made and none of them is open."""
        async with asyncio.timeout(2):
            while self.open or self.connections < connections:
                await self._closed.wait()


@contextlib.asynccontextmanager
async def raw_server(script: Script) -> AsyncIterator[Raw]:
    """Runs `script` once for each request; a connection is kept until the script or the client closes it."""
    seen = Raw()
    handlers: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        seen.connections += 1
        seen.open += 1
        try:
            while not writer.is_closing():
                received = await _read(reader, seen)
                seen.requests.append(received)
                await script(Wire(writer, received))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            seen.close_one()
            handlers.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=4096)
    seen.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield seen
    finally:
        server.close()
        for handler in list(handlers):
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


async def _read(reader: asyncio.StreamReader, seen: Raw) -> Received:
    head = await reader.readuntil(b"\r\n\r\n")
    seen.bytes_in += len(head)
    line, *rows = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    seen.bytes_in += len(body)
    return Received(line, headers, body)


def reply(status: int = 200, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> bytes:
    """A whole HTTP/1.1 reply."""
    fields = {"Content-Length": str(len(body)), "Content-Type": "application/json", **(headers or {})}
    rows = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Scripted\r\n{rows}\r\n".encode() + body


def answering(data: bytes) -> Script:
    """A script that sends the same reply to every request."""

    async def script(wire: Wire) -> None:
        await wire.send(data)

    return script


async def silent(_: Wire) -> None:
    """A script that accepts and never answers."""
    await asyncio.Event().wait()


async def resetting(wire: Wire) -> None:
    """A script that resets the connection once it has the request."""
    wire.reset()


def generation(**changes: object) -> Generation:
    """A small generation."""
    fields: dict[str, object] = {"model": "m", "prompt": "a red fox", "width": 64, "height": 64, "steps": 4}
    return Generation(**(fields | changes))  # type: ignore[arg-type]


def call(wanted: Generation | None = None, **changes: object) -> Call:
    """One attempt."""
    fields: dict[str, object] = {
        "generation": wanted or generation(),
        "target": "black-forest-labs/FLUX.1-dev",
        "attempt": "job.1",
        "fence": 7,
        "budget_s": 5.0,
    }
    return Call(**(fields | changes))  # type: ignore[arg-type]


async def run(provider: Provider, attempt: Call) -> tuple[list[Event], Outcome]:
    """All events of an attempt, and the outcome, which has to be the last and the only one."""
    events = [event async for event in provider.start(attempt)]
    outcomes = [event for event in events if isinstance(event, Produced | Failed)]
    assert len(outcomes) == 1
    assert events[-1] is outcomes[0]
    return events, outcomes[0]


async def failure(provider: Provider, attempt: Call) -> Failed:
    """The failure of an attempt that must fail."""
    _, outcome = await run(provider, attempt)
    assert isinstance(outcome, Failed), outcome
    return outcome
