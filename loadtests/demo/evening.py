"""One run of the demo from curtain up to the last child's end, and the exit code."""

import asyncio
import json
import signal
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import aiohttp
from rich.console import Console

from loadtests.demo import live, scene
from loadtests.demo.account import Account, ClaimTimes, Evidence, account_of
from loadtests.demo.children import ChildDied
from loadtests.demo.folder import FolderTaken, prepared
from loadtests.demo.gallery import Gallery
from loadtests.demo.operators import Operators, Refused
from loadtests.demo.outcome import tell, write_down
from loadtests.demo.script import written
from loadtests.demo.stage import REPLICAS, Stage, set_up, until_ready, watch_over
from loadtests.demo.tryout import how_to_try
from loadtests.demo.watching import Watching
from router.store.embedded import NoEmbeddedServer

LEDGERS_S = 6.0


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asked for."""

    rate: float
    images: int
    seed: int
    port: int
    out: Path
    once: bool
    json_path: Path | None


def run(wishes: Wishes) -> int:
    """The exit code: 0 if every promise was kept; see `Account.shortcomings`. Blocks."""
    console = Console(highlight=False)
    try:
        return asyncio.run(_until_told(_evening(wishes, console), wishes.once))
    except* (ChildDied, FolderTaken, Refused, NoEmbeddedServer, aiohttp.ClientError, TimeoutError) as failure:
        for error in _leaves(failure):
            said = str(error) or "a part did not answer in time"
            console.print(f"demo: {said}", style="red", markup=False, soft_wrap=True)
    return 1


async def _until_told(evening: Coroutine[None, None, int], once: bool) -> int:
    """SIGINT and SIGTERM end the evening, with everything cleaned up. `--keep` is meant to end like that."""
    loop, told = asyncio.get_running_loop(), list[int]()
    task = asyncio.current_task()
    assert task is not None

    def end(number: int) -> None:
        if not told:
            task.cancel()
        told.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, number)
    try:
        return await evening
    except asyncio.CancelledError:
        if not told:
            raise
        task.uncancel()
        return 128 + told[0] if once else 0


async def _evening(wishes: Wishes, console: Console) -> int:
    with prepared(wishes.out):
        return await _played_out(wishes, console)


async def _played_out(wishes: Wishes, console: Console) -> int:
    console.print("starting an embedded store, 8 workers on 4 nodes, a provider and 2 replicas ...")
    async with set_up(wishes.out, wishes.port, wishes.seed) as stage, aiohttp.ClientSession() as session:
        _say_where(stage, wishes, console)
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(watch_over(stage))
            await until_ready(stage, session)
            account = await _played(stage, session, wishes, console)
            if not wishes.once:
                has_dashboard = await Operators(session, stage.replicas[0]).finds("/dashboard")
                console.print(how_to_try(stage, has_dashboard), markup=False, soft_wrap=True)
                await asyncio.Event().wait()
            watch.cancel()
    return 1 if account.shortcomings() else 0


async def _played(stage: Stage, session: aiohttp.ClientSession, wishes: Wishes, console: Console) -> Account:
    script = written(_prompts(), wishes.images, wishes.rate, wishes.seed, REPLICAS)
    watching = Watching(stage, script, Gallery(wishes.out))
    async with asyncio.TaskGroup() as group:
        helpers = [
            group.create_task(watching.look_forever(session)),
            group.create_task(live.show(watching, console)),
        ]
        claim = await scene.play(watching, session)
        await _ledgers_closed(watching)
        for helper in helpers:
            helper.cancel()
    evidence = _evidence(watching, claim)
    account = account_of(evidence)
    if wishes.json_path is not None:
        wishes.json_path.parent.mkdir(parents=True, exist_ok=True)
        wishes.json_path.write_text(json.dumps(account.document(), indent=2) + "\n", encoding="utf-8")
    await asyncio.to_thread(write_down, wishes.out, watching, evidence, account)
    tell(console, wishes.out, watching, evidence, account)
    return account


async def _ledgers_closed(watching: Watching) -> None:
    """Wait until everything that started at a worker has ended: the last rows are evidence too."""
    latest = asyncio.get_running_loop().time() + LEDGERS_S
    while asyncio.get_running_loop().time() < latest:
        watching.catch_up()
        rows = watching.workers.rows
        began = {row["generation"] for row in rows if row["kind"] == "started"}
        closed = {row["generation"] for row in rows if row["kind"] in ("delivered", "undelivered")}
        if began <= closed:
            return
        await asyncio.sleep(0.1)


def _evidence(watching: Watching, claim: ClaimTimes) -> Evidence:
    return Evidence(
        receipts=watching.receipts,
        worker_rows=watching.workers.rows,
        provider_rows=watching.provider.rows,
        claim=claim,
        node_of=watching.stage.deployment.node_of,
        usd_each=watching.stage.deployment.usd_each,
        replicas=len(watching.stage.replicas),
    )


def _say_where(stage: Stage, wishes: Wishes, console: Console) -> None:
    first = stage.replicas[0]
    if wishes.port and not first.endswith(f":{wishes.port}"):
        console.print(f"port {wishes.port} is taken, so the first replica is at {first}")
    console.print(f"replicas: {' and '.join(stage.replicas)}; logs: {wishes.out / 'logs'}", soft_wrap=True)


def _prompts() -> list[str]:
    text = files("loadtests").joinpath("prompts.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip()]


def _leaves(failure: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in failure.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
