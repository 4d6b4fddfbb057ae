"""One running replica: started in order, ended in order."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from config.loading import Loaded
from config.schema import Config
from providers.http import Limits, open_http
from router.api.application import build
from router.app.assembly import Assembly, assemble
from router.app.loops import looping
from router.app.server import served
from router.app.terms import external_pools, labels_of, workers_of
from router.store.embedded import embedded_server
from router.store.link import open_link
from router.telemetry.otel import Telemetry, open_telemetry

LAST_WORDS_S = 3.0
"""Giving back what still runs at the end may take this long; then the store ends it by time and evidence."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica that serves at `url`. `redis_url` is where its store is, for a second replica to share."""

    name: str
    url: str
    redis_url: str
    parts: Assembly

    async def drained(self) -> None:
        """Stops taking work and ends what runs: all of it, or what the drain limit leaves time for."""
        drain = self.parts.drain
        drain.begin()
        left = max(0.0, drain.limit_s - LAST_WORDS_S)
        try:
            async with asyncio.timeout(left):
                await asyncio.sleep(min(drain.grace_s, left))
                await self.parts.desk.finished()
        except TimeoutError:
            self.parts.desk.stop_all()


@asynccontextmanager
async def running(loaded: Loaded, name: str | None = None) -> AsyncIterator[Replica]:
    """A whole replica for the length of a scope. It takes traffic when `/readyz` says so."""
    config = loaded.config
    name = name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    async with AsyncExitStack() as stack:
        redis_url = config.redis.url
        if redis_url == "embedded":
            redis_url = stack.enter_context(embedded_server([worker.url for worker in workers_of(config)]))
        telemetry = stack.enter_context(_told(config, name))
        http = await stack.enter_async_context(
            open_http(limits=Limits(response_bytes=config.limits.response_bytes))
        )
        link = await stack.enter_async_context(
            open_link(redis_url, config.redis.connect_timeout_s, config.redis.call_timeout_s)
        )
        runs = await stack.enter_async_context(asyncio.TaskGroup())
        parts = assemble(loaded, name, link, http, telemetry, runs)
        await stack.enter_async_context(looping(parts, config, name, telemetry))
        try:
            async with served(build(parts.gate), config.gateway.host, config.gateway.port) as url:
                try:
                    yield Replica(name, url, redis_url, parts)
                finally:
                    parts.desk.stop_all()
        finally:
            await _last_words(parts)


async def _last_words(parts: Assembly) -> None:
    try:
        async with asyncio.timeout(LAST_WORDS_S):
            await parts.desk.finished()
            await parts.errands.finished()
    except TimeoutError:
        parts.errands.drop()


def _told(config: Config, name: str) -> AbstractContextManager[Telemetry]:
    dialects = {pool: account.dialect for pool, account in external_pools(config).items()}
    terms = config.telemetry
    return open_telemetry(terms.service_name, terms.sample_ratio, name, labels_of(config), dialects)
