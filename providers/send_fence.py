"""The passage of one request through the network: was a byte written, and may one be written still?

`Call.send_by` closes the window in which the first byte may leave (a grant is fresh for 2 s only). The check
stands in aiohttp's `on_request_chunk_sent`: `StreamWriter.write` awaits that hook and then, in the same step
of the event loop, hands head and first chunk of the body to the socket in one piece (http_writer.py of 3.14).
So nothing comes between check and write, and a request that fails without having passed the hook was surely
not sent. Raising from the earlier `connection_*` hooks would leak the connection: connector.py does not close
it then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import aiohttp

from providers.contract import Ended, Failed, Fault

TIMER_GRAIN_S = (
    0.002  # uvloop counts whole milliseconds: a timeout at the window's end may fire a little before
)


class Passage:
    """What is known about the bytes of one request; this, not an exception's type, says NOT_SENT."""

    def __init__(self, has_body: bool, send_by: float | None, clock: Callable[[], float]) -> None:
        self._has_body = has_body
        self._send_by = math.inf if send_by is None else send_by
        self._clock = clock
        self._sent = False

    def remaining(self) -> float:
        """Seconds until the window closes."""
        return self._send_by - self._clock()

    def before_head(self) -> None:
        """The head is about to be buffered; without a body it is written at once."""
        self._sent = self._sent or not self._has_body

    def before_chunk(self) -> None:
        """A chunk of the body, and with the first one the head, is about to be written."""
        if not self._sent and self.remaining() <= 0:
            raise SendWindowClosedError
        self._sent = True

    def failed(self, error: BaseException, *, expired: bool) -> Failed:
        """What `error` means for the attempt; `expired`: its whole budget was over."""
        name = type(error).__name__  # messages of aiohttp hold addresses
        if self._sent:
            code = "deadline" if expired else _broken_code(error)
            return Failed(Fault.AMBIGUOUS, code, name, ended=Ended.UNKNOWN)
        if self.remaining() <= TIMER_GRAIN_S:
            return Failed(Fault.NOT_SENT, "send_window_closed", name)
        return Failed(Fault.NOT_SENT, "deadline" if expired else _unsent_code(error), name)


class SendWindowClosedError(Exception):
    """Raised into aiohttp to stop a write; never leaves this package."""


def passage_trace() -> aiohttp.TraceConfig:
    """The hooks that move each request's `Passage`, given as its `trace_request_ctx`."""
    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(_before_head)
    trace.on_request_chunk_sent.append(_before_chunk)
    return trace


async def _before_head(
    _: aiohttp.ClientSession, context: SimpleNamespace, __: aiohttp.TraceRequestHeadersSentParams
) -> None:
    context.trace_request_ctx.before_head()


async def _before_chunk(
    _: aiohttp.ClientSession, context: SimpleNamespace, __: aiohttp.TraceRequestChunkSentParams
) -> None:
    context.trace_request_ctx.before_chunk()


def _unsent_code(error: BaseException) -> str:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "dns_failed"
        case aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            return "tls_failed"
        case TimeoutError():
            return "connect_timeout"
        case aiohttp.InvalidURL():
            return "bad_url"
        case _:
            return "connect_failed"


def _broken_code(error: BaseException) -> str:
    match error:
        case TimeoutError():
            return "stalled"
        case aiohttp.ClientPayloadError():
            return "truncated_reply"
        case aiohttp.ClientResponseError():
            return "bad_http"
        case _:
            return "connection_lost"
