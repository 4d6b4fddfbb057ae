"""Bytes as a hostile client writes them, and the reply as it reads them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class RawReply:
    status: int
    headers: dict[str, str]
    body: bytes
    closed: bool

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def talk(url: str, *pieces: bytes, patience_s: float = 5.0) -> RawReply:
    """Writes the pieces, reads one reply. A broken pipe does not matter: the reply may be there already."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        async with asyncio.timeout(patience_s):
            for piece in pieces:
                try:
                    writer.write(piece)
                    await writer.drain()
                except ConnectionError:
                    break
            return await read_reply(reader)
    finally:
        writer.close()


async def read_reply(reader: asyncio.StreamReader) -> RawReply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return RawReply(int(head[0].split()[1]), headers, body, headers.get("connection") == "close")


def request(
    body: bytes, *lines: str, path: str = "/v1/images/generations", length: int | None = None
) -> bytes:
    length = len(body) if length is None else length
    head = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *lines, "", ""]
    return "\r\n".join(head).encode("latin-1") + body
