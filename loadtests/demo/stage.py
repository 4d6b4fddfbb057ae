"""Everything the scene needs, running: an embedded store, workers on four nodes, a provider, two replicas."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

import config
from config.loading import Refused as ConfigRefused
from config.loading import load
from config.schema import Config, ExternalPool, Model, OnPremPool
from loadtests.demo.children import ChildDied, Children
from loadtests.demo.operators import Operators
from loadtests.demo.operators import Refused as AdminRefused
from router.store.embedded import embedded_server

CONFIG = Path(config.__file__).parent / "demo.yaml"
PACE = 0.8
"""Emulated work takes this share of what the router predicts, so that a slow machine keeps its promises."""
JITTER = 0.08
PROVIDER_FIXED_S, PROVIDER_PER_STEP_MP_S = 1.0, 0.1
REPLICAS = 2
READY_S = 25.0
PORT_TRIES = 3


@dataclass(frozen=True, slots=True)
class Stage:
    """A running deployment, and the facts by which its ledgers are read."""

    replicas: tuple[str, ...]
    workers: tuple[str, ...]
    provider: str
    worker_ledger: Path
    provider_ledger: Path
    node_of: Mapping[str, str]
    usd_each: float
    deployment: Config
    children: Children


@contextlib.asynccontextmanager
async def set_up(out: Path, port: int, seed: int) -> AsyncIterator[Stage]:
    """A stage for the length of a scope. Raises `ChildDied`; ends every child in any case."""
    deployment = _deployment()
    children = Children(out / "logs")
    with embedded_server() as redis_url:
        try:
            workers, provider, ledgers = await _back_ends(children, deployment, out, seed)
            environ = _environ(redis_url, workers, provider)
            yield Stage(
                replicas=await _replicas(children, port, environ),
                workers=tuple(workers),
                provider=provider,
                worker_ledger=ledgers[0],
                provider_ledger=ledgers[1],
                node_of=_nodes_of(deployment),
                usd_each=_usd_each(deployment),
                deployment=deployment,
                children=children,
            )
        finally:
            await children.end()


async def until_ready(stage: Stage, session: aiohttp.ClientSession) -> None:
    """Return when every replica takes traffic and sees every slot free."""
    slots = sum(worker.slots for worker in _home(stage.deployment)[1].workers)
    async with asyncio.timeout(READY_S):
        for replica in stage.replicas:
            operators = Operators(session, replica)
            while not (await operators.ready() and await _free(operators) >= slots):  # noqa: ASYNC110
                await asyncio.sleep(0.1)  # what is waited for is another process


async def _free(operators: Operators) -> int:
    try:
        return sum(pool["slots"]["free"] for pool in (await operators.state())["pools"])
    except (AdminRefused, aiohttp.ClientError, TimeoutError):
        return 0


def free_port(wanted: int = 0) -> int:
    """`wanted` if nobody listens there, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ChildDied("no free port on 127.0.0.1")


def _deployment() -> Config:
    loaded = load(CONFIG, {})
    if isinstance(loaded, ConfigRefused):
        raise ChildDied(f"{CONFIG.name}: {loaded.problems[0].message}")
    return loaded.config


async def _back_ends(
    children: Children, deployment: Config, out: Path, seed: int
) -> tuple[list[str], str, tuple[Path, Path]]:
    model, pool = _home(deployment)
    account = _account(deployment)
    ledgers = (out / "logs" / "workers.jsonl", out / "logs" / "provider.jsonl")
    profile = model.profile
    pace = ("--seed", str(seed), "--jitter", str(JITTER))
    sglang = (
        *("loadtests.emulators", "sglang", "--workers", str(len(pool.workers)), "--ledger", str(ledgers[0])),
        *("--model", pool.models[deployment.default_model], "--time-scale", str(PACE)),
        *("--fixed", str(profile.fixed_s), "--per-step-mp", str(profile.per_step_mp_s)),
    )
    fal = (
        *(
            "loadtests.emulators",
            "fal",
            "--concurrency",
            str(account.concurrency),
            "--ledger",
            str(ledgers[1]),
        ),
        *("--fixed", str(PROVIDER_FIXED_S), "--per-step-mp", str(PROVIDER_PER_STEP_MP_S)),
    )
    async with asyncio.TaskGroup() as group:
        workers = group.create_task(children.start_announcing("workers", *sglang, *pace))
        provider = group.create_task(children.start_announcing("provider", *fal, *pace))
    return list(workers.result()["urls"]), str(provider.result()["urls"][0]), ledgers


async def _replicas(children: Children, port: int, environ: Mapping[str, str]) -> tuple[str, ...]:
    async with asyncio.TaskGroup() as group:
        starting = [
            group.create_task(_replica(children, place, port if place == 0 else 0, environ))
            for place in range(REPLICAS)
        ]
    return tuple(task.result() for task in starting)


async def _replica(children: Children, place: int, port: int, environ: Mapping[str, str]) -> str:
    """Start one replica. A port that somebody took between the look and the start is replaced."""
    for attempt in range(PORT_TRIES):
        taken = free_port(port if attempt == 0 else 0)
        name = f"replica {place + 1}"
        child = await children.start(
            name, "router.cli", "serve", str(CONFIG), environ={**environ, "SPILLOVER_PORT": str(taken)}
        )
        if await _listens(taken, child.process):
            return f"http://127.0.0.1:{taken}"
        if child.process.returncode is None or "cannot listen" not in child.last_words():
            raise ChildDied(child.last_words())
        await children.forget(child)
    raise ChildDied(f"replica {place + 1} found no free port")


async def _listens(port: int, process: asyncio.subprocess.Process) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(READY_S):
            while process.returncode is None:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    return True
                await asyncio.sleep(0.1)
    return False


def _environ(redis_url: str, workers: list[str], provider: str) -> dict[str, str]:
    ports = {
        f"SPILLOVER_DEMO_WORKER_PORT_{place}": str(urlsplit(url).port)
        for place, url in enumerate(workers, start=1)
    }
    return {"SPILLOVER_REDIS_URL": redis_url, "SPILLOVER_DEMO_FAL_URL": provider, **ports}


def _home(deployment: Config) -> tuple[Model, OnPremPool]:
    model = deployment.models[deployment.default_model]
    pool = deployment.pools[model.home]
    assert isinstance(pool, OnPremPool)
    return model, pool


def _account(deployment: Config) -> ExternalPool:
    account = deployment.pools[deployment.overflow[0]]
    assert isinstance(account, ExternalPool)
    return account


def _nodes_of(deployment: Config) -> dict[str, str]:
    """The emulators call their workers `worker-0`, `worker-1` ..., in the order of the config."""
    return {f"worker-{place}": worker.node for place, worker in enumerate(_home(deployment)[1].workers)}


def _usd_each(deployment: Config) -> float:
    prices = _account(deployment).models[deployment.default_model].prices
    return float(max(prices, key=lambda price: price.valid_from).per_image_usd)
