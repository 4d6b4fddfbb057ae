"""`python -m loadtests.emulators`: workers or a fal queue as a process of their own.

    python -m loadtests.emulators sglang --workers 8 --base-port 9101 --time-scale 0.1 --ledger worker.jsonl
    python -m loadtests.emulators fal --port 9200 --ledger fal.jsonl

Prints one line of JSON with the URLs when everything listens, and ends cleanly at SIGTERM or SIGINT.
"""

import argparse
import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from loadtests.emulators.fal_service import fal_queue
from loadtests.emulators.fleet import VARIANTS, sglang_workers
from loadtests.emulators.speed import Speed
from loadtests.emulators.worker import WorkerSettings


def main(arguments: list[str] | None = None) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(_parser().parse_args(arguments)))


async def _run(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with _fleet(options) if options.emulator == "sglang" else _fal(options) as urls:
        print(json.dumps({"emulator": options.emulator, "urls": urls}), flush=True)
        await stop.wait()


@contextlib.asynccontextmanager
async def _fleet(options: argparse.Namespace) -> AsyncIterator[list[str]]:
    async with sglang_workers(
        options.workers,
        slots=options.slots,
        model=options.model,
        variant=options.variant,
        speed=_speed(options),
        warm_up_s=options.warm_up,
        base_port=options.base_port,
        name=options.name,
        ledger_file=options.ledger,
    ) as fleet:
        yield fleet.urls


@contextlib.asynccontextmanager
async def _fal(options: argparse.Namespace) -> AsyncIterator[list[str]]:
    async with fal_queue(
        port=options.port, concurrency=options.concurrency, speed=_speed(options), ledger_file=options.ledger
    ) as fal:
        yield [fal.url]


def _speed(options: argparse.Namespace) -> Speed:
    return Speed(options.fixed, options.per_step_mp, options.time_scale, options.jitter, options.seed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtests.emulators", description="Emulated back ends.")
    kinds = parser.add_subparsers(dest="emulator", required=True)
    sglang = kinds.add_parser("sglang", help="GPU workers speaking the OpenAI images dialect")
    sglang.add_argument("--workers", type=int, default=1)
    sglang.add_argument("--base-port", type=int, default=0, help="first port; 0 takes free ones")
    sglang.add_argument("--slots", type=int, default=1, help="generations at once on each worker")
    sglang.add_argument("--variant", choices=sorted(VARIANTS), default="sglang")
    sglang.add_argument("--model", default=WorkerSettings.model)
    sglang.add_argument("--name", default="worker", help="workers are called NAME-0, NAME-1 ...")
    sglang.add_argument("--warm-up", type=float, default=0.0, help="seconds until healthy")
    fal = kinds.add_parser("fal", help="the fal queue")
    fal.add_argument("--port", type=int, default=0)
    fal.add_argument("--concurrency", type=int, default=4)
    for kind in (sglang, fal):
        _add_shared(kind)
    return parser


def _add_shared(parser: argparse.ArgumentParser) -> None:
    normal = Speed()
    parser.add_argument("--ledger", type=Path, help="append every row to this JSONL file")
    parser.add_argument(
        "--time-scale", type=float, default=normal.time_scale, help="factor on all service times"
    )
    parser.add_argument("--fixed", type=float, default=normal.fixed_s, help="seconds of any generation")
    parser.add_argument(
        "--per-step-mp", type=float, default=normal.per_step_mp_s, help="seconds per step and MP"
    )
    parser.add_argument("--jitter", type=float, default=normal.jitter, help="share by which times vary")
    parser.add_argument("--seed", type=int, default=normal.seed, help="of the jitter")


if __name__ == "__main__":
    main()
