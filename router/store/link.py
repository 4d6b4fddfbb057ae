"""The link to Redis: bounded calls, no retries, and one kind of failure.

redis-py's defaults retry ten times and wait for seconds; on a request's path that turns a frozen server
into minutes, and a retried write into two. Here a call is made once, within `call_timeout_s`, or it is
`StoreDown`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.connection import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, AuthorizationError, NoScriptError, RedisError
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoReply

from router.store.pipe import Pipe, PipeBroken
from router.store.scripts import Script, load


class StoreDown(Exception):
    """The store did not answer in time or not at all. What was asked may have happened or not."""


class StoreCold(StoreDown):
    """The pool was never opened in this store: the server has lost its data, or is another one."""


class StoreRefused(StoreDown):
    """The store answered with an error: a bug, a wrong permission, or data of another version.

    For whoever asked it is as good as down: never "allowed", and no reason to end what runs.
    """


class Link:
    """Calls of scripts by name. `call` is safe to repeat only where the script says it is idempotent."""

    def __init__(self, pipe: Pipe, redis: Redis, scripts: Mapping[str, Script], timeout_s: float) -> None:
        self._pipe = pipe
        self._redis = redis
        self._scripts = scripts
        self._timeout_s = timeout_s

    async def call(self, name: str, keys: Sequence[str], *args: str | int | float) -> Any:
        """Runs one script; a server that has forgotten it is given it again, once."""
        script = self._scripts[name]
        try:
            try:
                return await self._pipe.send("EVALSHA", script.sha, len(keys), *keys, *args)
            except NoScriptError:
                return await self._pipe.send("EVAL", script.text, len(keys), *keys, *args)
        except PipeBroken as gone:
            raise StoreDown(f"{name}: {gone}") from gone
        except RedisError as error:
            raise _translated(name, error) from error

    async def command(self, *parts: str | int | float) -> Any:
        """Runs one plain command, within the same bounds."""
        try:
            return await self._pipe.send(*parts)
        except PipeBroken as gone:
            raise StoreDown(f"{parts[0]}: {gone}") from gone
        except RedisError as error:
            raise _translated(str(parts[0]), error) from error

    @asynccontextmanager
    async def subscribed(self, *channels: str) -> AsyncIterator[AsyncIterator[tuple[str, str]]]:
        """Messages of some channels as (channel, text), until the connection breaks (`StoreDown`)."""
        pubsub = self._redis.pubsub(ignore_subscribe_messages=True)
        try:
            try:
                async with asyncio.timeout(self._timeout_s):
                    await pubsub.subscribe(*channels)
            except (RedisError, OSError, TimeoutError) as gone:
                raise StoreDown("subscribe") from gone
            yield _messages(pubsub)
        finally:
            await pubsub.aclose()  # type: ignore[no-untyped-call]


async def _messages(pubsub: Any) -> AsyncIterator[tuple[str, str]]:
    while True:
        try:
            message = await pubsub.get_message(timeout=1.0)
        except (RedisError, OSError, TimeoutError) as gone:
            raise StoreDown("subscription") from gone
        if message is not None:
            yield str(message["channel"]), str(message["data"])


AWAY = {
    *("LOADING", "BUSY", "OOM", "MISCONF", "NOREPLICAS"),
    *("READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK"),
}
"""Error codes of a server that cannot serve now, and may soon. `MISCONF`: it cannot save its data."""


def _translated(name: str, error: RedisError) -> Exception:
    text = str(error)
    code = error.status_code or text.partition(" ")[0]
    if code == "NOPOOL":
        return StoreCold(f"{name}: {text}")
    locked_out = isinstance(error, AuthenticationError | AuthorizationError)
    if code in AWAY or (isinstance(error, NoConnection | NoReply) and not locked_out):
        return StoreDown(f"{name}: {type(error).__name__}")
    return StoreRefused(f"{name}: {text[:200]}")


@asynccontextmanager
async def open_link(url: str, connect_timeout_s: float, call_timeout_s: float) -> AsyncIterator[Link]:
    """A link for the length of a scope. Nothing is connected before the first call."""
    pool: ConnectionPool = ConnectionPool.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=connect_timeout_s,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )
    redis = Redis(connection_pool=pool)
    pipe = Pipe(pool.make_connection, call_timeout_s)
    try:
        async with asyncio.TaskGroup() as group:
            carrying = group.create_task(pipe.run())
            try:
                yield Link(pipe, redis, load(), call_timeout_s)
            finally:
                carrying.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:  # the scope's own exception leaves as it was raised
            raise group.exceptions[0] from None
        raise
    finally:
        await redis.aclose()
        await pool.disconnect()
