"""A product backend as these tests play it: sends a generation, and checks every image that comes back."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from config.keys import Presented
from loadtests.emulators import read_marks
from tests.journeys.deployment import ADMIN, HOUSE, bearer

PATH = "/v1/images/generations"


@dataclass(frozen=True)
class Answered:
    """One reply. `seconds`: how long it took."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any] = field(repr=False)
    seconds: float

    @property
    def job(self) -> str:
        return self.headers.get("spillover-job-id", "")

    @property
    def route(self) -> str:
        return self.headers.get("spillover-route", "")

    @property
    def attempts(self) -> str:
        return self.headers.get("spillover-attempts", "")

    @property
    def code(self) -> str:
        """The word for what went wrong; empty for a success."""
        error = self.body.get("error", self.body)
        return str(error.get("code", ""))

    def marks(self) -> list[dict[str, str]]:
        """What is written inside each image; raises if one is not a whole PNG."""
        return [read_marks(base64.b64decode(image["b64_json"])) for image in self.body["data"]]


@dataclass(frozen=True)
class Client:
    """Connections to one gateway."""

    session: aiohttp.ClientSession
    url: str
    key: Presented = HOUSE

    async def make(
        self, prompt: str = "a lighthouse", headers: dict[str, str] | None = None, **fields: Any
    ) -> Answered:
        """One generation of 64x64."""
        body = {"prompt": prompt, "size": "64x64", **fields}
        return await self.ask("POST", PATH, json=body, headers={**bearer(self.key), **(headers or {})})

    async def ask(self, method: str, path: str, **more: Any) -> Answered:
        began = time.monotonic()
        async with self.session.request(method, self.url + path, **more) as reply:
            try:
                body = await reply.json(content_type=None)
            except ValueError:
                body = {"text": await reply.text()}
            headers = {name.lower(): value for name, value in reply.headers.items()}
            return Answered(reply.status, headers, body, time.monotonic() - began)

    async def admin(self, method: str, path: str, **more: Any) -> Answered:
        return await self.ask(method, path, headers=bearer(ADMIN), **more)

    async def state(self) -> dict[str, Any]:
        answer = await self.admin("GET", "/admin/state")
        assert answer.status == 200, answer
        return answer.body


@asynccontextmanager
async def clients(*urls: str, key: Presented = HOUSE, keep_alive: bool = True) -> AsyncIterator[list[Client]]:
    """One client for each gateway."""
    connector = aiohttp.TCPConnector(limit=0, force_close=not keep_alive)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield [Client(session, url, key) for url in urls]


async def until(look: Callable[[], Any], within_s: float = 5.0, every_s: float = 0.03) -> Any:
    """What `look` finds (it may be a coroutine function), asked again until it is true."""
    async with asyncio.timeout(within_s):
        while True:
            found = look()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(every_s)
