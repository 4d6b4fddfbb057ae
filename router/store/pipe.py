"""One connection for all calls of a replica: what is asked in one turn of the event loop goes out together.

Two calls through a pool of redis-py cost several times as much, and its waiters are woken unfairly. Here a
caller who is cancelled costs nothing: its reply is read in its turn and dropped. A connection whose replies
stall is closed, and everybody who waits on it is told at once; nothing is ever sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as NoReply

BATCH = 256
"""Calls of one round trip; more would make the first of them wait for the last."""
LATE_S = 0.05
"""A timeout that fires is looked at again after this: if our own loop was late, the reply is there."""

Command = tuple[str | int | float, ...]


class PipeBroken(Exception):
    """No reply: the server is away or stalls. What was asked may have happened or not."""


class Pipe:
    """`send` from anywhere; `run` once, in the scope that owns the connection."""

    def __init__(self, connect: Callable[[], AbstractConnection], stall_s: float) -> None:
        self._connect = connect
        self._stall_s = stall_s
        self._waiting: list[tuple[Command, asyncio.Future[Any]]] = []
        self._asked = asyncio.Event()
        self._closed = False
        self._connection: AbstractConnection | None = None

    async def send(self, *command: str | int | float) -> Any:
        """The reply. Raises `PipeBroken`, or the server's own `ResponseError`."""
        if self._closed:
            raise PipeBroken("closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, future))
        self._asked.set()
        return await future

    async def run(self) -> None:
        """Carries calls until cancelled; who still waits then is told so."""
        batch: list[tuple[Command, asyncio.Future[Any]]] = []
        try:
            while True:
                await self._asked.wait()
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                if not self._waiting:
                    self._asked.clear()
                await self._carry(batch)
        finally:
            self._closed = True
            self._strand(batch, "closed")
            await self._close()

    def _strand(self, batch: Sequence[tuple[Command, asyncio.Future[Any]]], why: str) -> None:
        stranded, self._waiting = [*batch, *self._waiting], []
        self._asked.clear()
        for _, future in stranded:
            if not future.done():
                future.set_exception(PipeBroken(why))

    async def _carry(self, batch: Sequence[tuple[Command, asyncio.Future[Any]]]) -> None:
        try:
            await _within(self._stall_s, self._exchange(batch))
        except (NoReply, NoConnection, OSError, RedisError) as gone:
            self._strand(batch, type(gone).__name__)
            await self._close()

    async def _exchange(self, batch: Sequence[tuple[Command, asyncio.Future[Any]]]) -> None:
        connection = await self._connected()
        packed = connection.pack_commands([command for command, _ in batch])
        await connection.send_packed_command(packed)
        for _, future in batch:
            try:
                reply = await connection.read_response()
            except ResponseError as error:
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(reply)

    async def _connected(self) -> AbstractConnection:
        if self._connection is None:
            connection = self._connect()
            self._connection = connection
            await connection.connect()  # type: ignore[no-untyped-call]
        return self._connection

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


async def _within(seconds: float, work: Awaitable[None]) -> None:
    """Raises `NoReply` after `seconds`. Lateness of our own event loop is not held against the server."""
    task = asyncio.ensure_future(work)  # noqa: TID251 (ended in every way out of this function)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            done, _ = await asyncio.wait({task}, timeout=LATE_S)
        if not done:
            raise NoReply("no reply in time")
        task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
