"""A TCP relay before the store that can lose the reply to a call: it is done, and nobody hears of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Relay:
    """`lose(mark)`: the connection that carries a call with this text in it says no more."""

    host: str
    port: int
    url: str = ""
    marks: set[bytes] = field(default_factory=set)

    def lose(self, mark: bytes) -> None:
        self.marks.add(mark)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection(self.host, self.port)
        mute = asyncio.Event()
        replies = asyncio.create_task(_replies(there, writer, mute))
        with suppress(OSError):
            while data := await reader.read(65_536):
                for mark in [mark for mark in self.marks if mark in data]:
                    self.marks.discard(mark)
                    mute.set()
                here.write(data)
        replies.cancel()
        here.close()
        writer.close()


async def _replies(there: asyncio.StreamReader, writer: asyncio.StreamWriter, mute: asyncio.Event) -> None:
    with suppress(OSError):
        while data := await there.read(65_536):
            if not mute.is_set():
                writer.write(data)


@asynccontextmanager
async def relay(host: str, port: int) -> AsyncIterator[Relay]:
    """A relay on a loopback port."""
    found = Relay(host, port)
    async with await asyncio.start_server(found.carry, "127.0.0.1", 0) as server:
        found.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        yield found
        server.close()
