"""Everything the scene needs, running: an embedded store, workers on four nodes, a provider, two replicas."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from loadtests.demo.children import ChildDied, Children
from loadtests.demo.deployment import PATH, Deployment, read_deployment
from loadtests.demo.operators import Operators, Refused
from router.store.embedded import embedded_server

PACE = 0.75
"""Emulated work takes this share of what the router predicts, so that a slow machine keeps its promises."""
JITTER = 0.08
PROVIDER_FIXED_S, PROVIDER_PER_STEP_MP_S = 1.0, 0.1
REPLICAS = 2
READY_S = 25.0
STORE_LOOK_S = 1.0
PORT_TRIES = 3


@dataclass(frozen=True, slots=True)
class BackEnds:
    """The emulators: where they listen, and the ledgers that they write."""

    workers: tuple[str, ...]
    provider: str
    worker_ledger: Path
    provider_ledger: Path


@dataclass(frozen=True, slots=True)
class Stage:
    """A running deployment."""

    deployment: Deployment
    back_ends: BackEnds
    replicas: tuple[str, ...]
    redis_url: str
    children: Children


@contextlib.asynccontextmanager
async def set_up(out: Path, port: int, seed: int) -> AsyncIterator[Stage]:
    """A stage for the length of a scope. Raises `ChildDied`; ends every child in any case."""
    deployment, children = read_deployment(), Children(out / "logs")
    with embedded_server() as redis_url:
        try:
            back_ends = await _back_ends(children, deployment, out / "logs", seed)
            replicas = await _replicas(children, port, _environ(redis_url, back_ends))
            yield Stage(deployment, back_ends, replicas, redis_url, children)
        except Exception as error:
            # What failed first may only be the effect of a part that is gone.
            if dead := await children.the_dead():
                raise ChildDied("\n".join(child.last_words() for child in dead)) from error
            raise
        finally:
            await children.end()


async def until_ready(stage: Stage, session: aiohttp.ClientSession) -> None:
    """Return when every replica takes traffic and sees every slot free."""
    async with asyncio.timeout(READY_S):
        for replica in stage.replicas:
            operators = Operators(session, replica)
            while not await _is_ready(operators, stage.deployment.slots):  # noqa: ASYNC110
                await asyncio.sleep(0.1)  # what is waited for is another process


async def watch_over(stage: Stage) -> None:
    """Return never; raises `ChildDied` when a part ends by itself."""
    async with asyncio.TaskGroup() as group:
        group.create_task(stage.children.watch())
        group.create_task(_watch_store(urlsplit(stage.redis_url).port or 0))


def free_port(wanted: int = 0) -> int:
    """`wanted` if nobody listens there, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ChildDied("there is no free port on 127.0.0.1")


async def _is_ready(operators: Operators, slots: int) -> bool:
    if not await operators.finds("/readyz"):
        return False
    try:
        free: int = sum(pool["slots"]["free"] for pool in (await operators.state())["pools"])
    except (Refused, aiohttp.ClientError, TimeoutError):
        return False
    return free >= slots


async def _watch_store(port: int) -> None:
    while await _answers(port):  # noqa: ASYNC110
        await asyncio.sleep(STORE_LOOK_S)  # it is another process, and not our own child's child
    raise ChildDied("the embedded store ended; it keeps no log")


async def _back_ends(children: Children, deployment: Deployment, logs: Path, seed: int) -> BackEnds:
    worker_ledger, provider_ledger = logs / "workers.jsonl", logs / "provider.jsonl"
    home, profile = deployment.home, deployment.model.profile
    sglang = (
        *("loadtests.emulators", "sglang", "--workers", str(len(home.workers))),
        *("--model", home.models[deployment.model_name], "--time-scale", str(PACE)),
        *("--fixed", str(profile.fixed_s), "--per-step-mp", str(profile.per_step_mp_s)),
        *("--ledger", str(worker_ledger), "--seed", str(seed), "--jitter", str(JITTER)),
    )
    fal = (
        *("loadtests.emulators", "fal", "--concurrency", str(deployment.account.concurrency)),
        *("--fixed", str(PROVIDER_FIXED_S), "--per-step-mp", str(PROVIDER_PER_STEP_MP_S)),
        *("--ledger", str(provider_ledger), "--seed", str(seed), "--jitter", str(JITTER)),
    )
    async with asyncio.TaskGroup() as group:
        workers = group.create_task(children.start_announcing("workers", *sglang))
        provider = group.create_task(children.start_announcing("provider", *fal))
    return BackEnds(
        tuple(workers.result()["urls"]), provider.result()["urls"][0], worker_ledger, provider_ledger
    )


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
        child = await children.start(
            f"replica {place + 1}",
            *("router.cli", "serve", str(PATH)),
            environ={**environ, "SPILLOVER_PORT": str(taken)},
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
                if await _answers(port):
                    return True
                await asyncio.sleep(0.1)
    return False


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _environ(redis_url: str, back_ends: BackEnds) -> dict[str, str]:
    ports = {
        f"SPILLOVER_DEMO_WORKER_PORT_{place}": str(urlsplit(url).port)
        for place, url in enumerate(back_ends.workers, start=1)
    }
    return {"SPILLOVER_REDIS_URL": redis_url, "SPILLOVER_DEMO_FAL_URL": back_ends.provider, **ports}
