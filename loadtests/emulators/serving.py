"""A loopback HTTP server inside the running event loop, whose owner can pull its plug.

A `Host` is one address. It can be opened, cut (listener closed, every connection reset, as when a process
dies) and opened again on the same port. uvicorn does the HTTP; its signal handlers and its polling main loop
are not used: `startup` alone serves, which makes start and stop immediate (uvicorn 0.54, server.py).
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Host:
    """One listening address, given to an app so that it can drop connections or the whole server."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._app: ASGIApp | None = None
        self._server: uvicorn.Server | None = None

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def is_open(self) -> bool:
        return self._server is not None

    async def open(self, app: ASGIApp) -> None:
        """Listen; the first time on the wanted or a free port, afterwards always on the same."""
        self._app = app
        await self.reopen()

    async def reopen(self) -> None:
        if self._app is None or self._server is not None:
            raise RuntimeError("a host is opened once with its app, and reopened only after a cut")
        listener = _listener(self.port)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            http="httptools",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
        )
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[listener])
        self._server = server

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The app; a handler that `close` ends is no error worth a log line."""
        assert self._app is not None
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if self._server is not None:
                raise

    def cut(self) -> None:
        """Stop listening and reset every connection at once; running handlers go on without a client."""
        server, self._server = self._server, None
        if server is None:
            return
        for listener in server.servers:
            listener.close()
        for connection in list(server.server_state.connections):
            _reset(connection.transport)

    def reset(self, scope: Scope) -> None:
        """Reset the connection that carries this request, without a reply."""
        if self._server is None:
            return
        for connection in list(self._server.server_state.connections):
            if getattr(connection, "client", None) == scope["client"]:
                _reset(connection.transport)

    async def close(self) -> None:
        """Cut, then end the handlers that still run."""
        handlers = list(self._server.server_state.tasks) if self._server else []
        self.cut()
        for handler in handlers:
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


@contextlib.asynccontextmanager
async def serve(app: ASGIApp, port: int = 0) -> AsyncIterator[str]:
    """Serve the app while the block runs; yields the base URL, at which it already listens."""
    host = Host(port)
    await host.open(app)
    try:
        yield host.url
    finally:
        await host.close()


def _listener(port: int) -> socket.socket:
    """A bound socket with its protocol named.

    asyncio sets TCP_NODELAY only where it reads IPPROTO_TCP; without it a reply waits 40 ms for a late ACK.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError:
        listener.close()
        raise
    return listener


def _reset(transport: asyncio.Transport) -> None:
    """Close with RST instead of FIN, so that the peer sees a reset even if it has read everything."""
    peer = transport.get_extra_info("socket")
    if peer is not None:
        with contextlib.suppress(OSError):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    transport.abort()
