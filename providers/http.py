"""All outgoing HTTP of the dialects, on one aiohttp engine: a reply or a `Failed`, never a network exception.

Why not httpx (tests/providers/test_why_not_httpx.py shows both): the pool of httpx 0.28.1 wedges under
cancellation (encode/httpcore#1093, #830) and scans every connection at each request; and httpx_aiohttp 0.2.0
reports a connection lost *after* the request was sent as `ConnectTimeout`: paid work would look unsent.

- No redirects, cookies, proxies from the environment or decompression. No limit of connections either:
  admission is the router's.
- A POST is written at most once: when a connection breaks, aiohttp repeats only idempotent methods, once
  (`IDEMPOTENT_METHODS` in aiohttp/client.py 3.14). Those here are GET and the PUT that cancels.
- Idle connections are kept 3 s: uvicorn, under SGLang and vLLM, closes them after 5 s, and a POST that meets
  such a close is AMBIGUOUS, which keeps a slot occupied for nothing.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from providers.contract import Ended, Failed, Fault
from providers.send_fence import Passage, passage_trace

KEEP_ALIVE_S = 3.0
READ_BUFFER_BYTES = 512 * 1024  # an image is 1-2 MB: with aiohttp's 64 KiB the socket is paused some 20 times


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `budget_s` bounds it whole, body included; `send_by` (monotonic) needs a body."""

    method: str
    url: str = field(repr=False)
    budget_s: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    send_by: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that was read to its end. `headers` are case-insensitive."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one exchange may take, whoever asks."""

    response_bytes: int = 64 * 1024 * 1024
    connect_s: float = 5.0
    body_s: float = 30.0
    """From the head of a reply to its end: servers reply when their work is done; a slow body is a fault."""


class Http:
    """The outgoing side of one process; made by `open_http`."""

    def __init__(self, session: aiohttp.ClientSession, limits: Limits, clock: Callable[[], float]) -> None:
        self._session = session
        self._limits = limits
        self._clock = clock

    async def send(self, request: Request) -> Reply | Failed:
        """Send `request` once, read the whole reply. A 3xx is a `Failed`; any other status is a `Reply`."""
        url = _parsed(request.url)
        if url is None:
            return Failed(Fault.NOT_SENT, "bad_url")
        passage = Passage(request.body is not None, request.send_by, self._clock)
        connect_s = min(self._limits.connect_s, passage.remaining(), request.budget_s)
        if connect_s <= 0:  # aiohttp reads a timeout of 0 as "none"
            return passage.failed(TimeoutError(), expired=True)
        budget = asyncio.timeout(request.budget_s)
        try:
            async with budget:
                return await self._exchange(request, url, passage, connect_s)
        except (aiohttp.ClientError, OSError) as error:
            return passage.failed(error, expired=budget.expired())

    async def _exchange(
        self, request: Request, url: URL, passage: Passage, connect_s: float
    ) -> Reply | Failed:
        async with self._session.request(
            request.method,
            url,
            headers=request.headers,
            data=request.body,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_s, sock_connect=connect_s),
            trace_request_ctx=passage,
        ) as response:
            body = await self._read(response)
            if body is None:
                response.close()
                return Failed(Fault.UNUSABLE, "response_too_large", ended=Ended.UNKNOWN)
        if 300 <= response.status < 400:
            return Failed(Fault.UNUSABLE, "redirect", f"HTTP {response.status}")
        return Reply(response.status, response.headers, body)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes | None:
        """The body, or `None` as soon as it is or says it is over the cap."""
        limit = self._limits.response_bytes
        if (response.content_length or 0) > limit:
            return None
        chunks: list[bytes] = []
        size = 0
        async with asyncio.timeout(self._limits.body_s):
            while chunk := await response.content.readany():
                size += len(chunk)
                if size > limit:
                    return None
                chunks.append(chunk)
        return b"".join(chunks)


def _parsed(text: str) -> URL | None:
    """The URL as it stands, not quoted anew (it may be signed), if it names a host and stays on one line."""
    if not (text.isascii() and text.isprintable()) or " " in text:
        return None
    try:
        url = URL(text, encoded=True)
        return url if url.host and url.port else None  # its parts are parsed, and refused, only when read
    except ValueError:
        return None


@asynccontextmanager
async def open_http(
    *,
    limits: Limits | None = None,
    tls: ssl.SSLContext | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Http]:
    """The one owner of connections. `tls` replaces the system's trust, for a house with its own authority."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0, limit_per_host=0, keepalive_timeout=KEEP_ALIVE_S, ssl=True if tls is None else tls
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": "identity", "User-Agent": "spillover"},
        auto_decompress=False,
        trust_env=False,
        read_bufsize=READ_BUFFER_BYTES,
        trace_configs=[passage_trace()],
    )
    async with session:
        yield Http(session, limits or Limits(), clock)
