"""uvicorn inside our own event loop, for the length of a scope, without its signal handlers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

BACKLOG = 4096
KEEP_ALIVE_S = 75
"""Longer than the idle time of any load balancer: a POST that meets our close would not be repeated by it."""
LAST_REPLIES_S = 5


class CannotListen(Exception):
    """The address is taken, or not ours to listen on."""


class _Server(uvicorn.Server):
    def __init__(self, settings: uvicorn.Config) -> None:
        super().__init__(settings)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are the process's business: app/process.py


@asynccontextmanager
async def served(app: Any, host: str, port: int) -> AsyncIterator[str]:
    """Serves `app`; yields its base URL. Port 0 takes a free one. Raises `CannotListen`."""
    settings = uvicorn.Config(
        app,
        host=host,
        port=port,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=LAST_REPLIES_S,
        access_log=False,
        log_config=None,
        lifespan="off",
        http="httptools",
        server_header=False,
        date_header=False,
    )
    server = _Server(settings)
    async with asyncio.TaskGroup() as group:
        group.create_task(_until_exit(server, host, port))
        await server.listening.wait()  # a server that cannot listen fails the group instead
        bound = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://{host}:{bound}"
        finally:
            server.should_exit = True


async def _until_exit(server: uvicorn.Server, host: str, port: int) -> None:
    try:
        await server.serve()
    except SystemExit:  # uvicorn's word for a socket that it could not bind
        raise CannotListen(
            f"cannot listen on {host}:{port}: is another gateway running? Set gateway.port to a free one"
        ) from None
