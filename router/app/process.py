"""The process around a replica: its event loop, its signals, its exit code."""

from __future__ import annotations

import asyncio
import signal
import sys

import uvloop

from config.loading import Loaded
from router.app.replica import Replica, running
from router.app.server import CannotListen
from router.store.capacity import StoreSchema
from router.store.embedded import NoEmbeddedServer
from router.telemetry.logs import configure_logging

REFUSALS = (CannotListen, StoreSchema, NoEmbeddedServer)


def serve(loaded: Loaded) -> int:
    """Runs one replica until SIGTERM, SIGINT or SIGHUP, then drains it. Returns the exit code; blocks.

    0: drained. 1: it could not start, or a loop failed; the reason stands on stderr. A second signal ends it
    without waiting for what runs.
    """
    configure_logging(loaded.config.telemetry.log_level)
    try:
        uvloop.run(_served(loaded))
    except (NoEmbeddedServer, BaseExceptionGroup) as failure:
        refusals = [error for error in _leaves(failure) if isinstance(error, REFUSALS)]
        if not refusals:
            raise
        for error in refusals:
            sys.stderr.write(f"spillover: {error}\n")
        return 1
    return 0


async def _served(loaded: Loaded) -> None:
    stop, hurry = asyncio.Event(), asyncio.Event()

    def asked_to_stop() -> None:
        (hurry if stop.is_set() else stop).set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, asked_to_stop)
    async with running(loaded) as replica:
        await stop.wait()
        await _drained_or_hurried(replica, hurry)


async def _drained_or_hurried(replica: Replica, hurry: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        draining = group.create_task(replica.drained())
        hurried = group.create_task(hurry.wait())
        await asyncio.wait({draining, hurried}, return_when=asyncio.FIRST_COMPLETED)
        draining.cancel()
        hurried.cancel()


def _leaves(failure: BaseException) -> list[BaseException]:
    if not isinstance(failure, BaseExceptionGroup):
        return [failure]
    return [leaf for error in failure.exceptions for leaf in _leaves(error)]
