"""A scripted fal queue: each endpoint answers what the test lays down, in order; the last answer repeats."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.providers.scripted import Raw, Wire, raw_server, reply

Answer = bytes | None  # None: accept and never answer
IN_QUEUE = reply(202, json.dumps({"status": "IN_QUEUE", "queue_position": 2}).encode())
IN_PROGRESS = reply(202, json.dumps({"status": "IN_PROGRESS", "logs": None}).encode())
COMPLETED = reply(
    200, json.dumps({"status": "COMPLETED", "logs": None, "metrics": {"inference_time": 0.75}}).encode()
)


def completed_with(error: str, error_type: str | None = None) -> bytes:
    """The status of work that failed."""
    return reply(
        200,
        json.dumps({"status": "COMPLETED", "logs": None, "error": error, "error_type": error_type}).encode(),
    )


def answer(status: int, body: object, **headers: str) -> bytes:
    """A JSON reply."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return reply(status, json.dumps(body).encode(), fields)


@dataclass
class Scene:
    """What each endpoint answers. `{url}` in texts stands for the server's own address."""

    submit: Sequence[Answer] = ()
    status: Sequence[Answer] = (COMPLETED,)
    result: Sequence[Answer] = ()
    media: Sequence[Answer] = ()
    cancel: Sequence[Answer] = ()
    _asked: dict[str, int] = field(default_factory=dict)

    def next(self, endpoint: str, url: str) -> Answer:
        answers: Sequence[Answer] = getattr(self, endpoint) or (DEFAULTS[endpoint](url),)
        place = self._asked.get(endpoint, 0)
        self._asked[endpoint] = place + 1
        return answers[min(place, len(answers) - 1)]


def receipt(url: str, **changes: object) -> dict[str, object]:
    """The reply to a good submit."""
    one = f"{url}/fal-ai/flux/requests/r1"
    urls = {"status_url": f"{one}/status", "response_url": one, "cancel_url": f"{one}/cancel"}
    return {"request_id": "r1", "status": "IN_QUEUE", "queue_position": 0, **urls, **changes}


def result(url: str, *names: str, **changes: object) -> dict[str, object]:
    """The result of good work."""
    images = [{"url": f"{url}/files/{name}", "width": 64, "height": 64} for name in names]
    return {"images": images, "seed": 11, "has_nsfw_concepts": [False] * len(names), **changes}


DEFAULTS: dict[str, Callable[[str], bytes]] = {
    "submit": lambda url: answer(200, receipt(url)),
    "result": lambda url: answer(200, result(url, "a.png"), x_fal_billable_units="1.5"),
    "media": lambda _: reply(404, b""),
    "cancel": lambda _: answer(200, {"status": "OK"}),
}


def _endpoint(method: str, path: str) -> str:
    if method == "POST":
        return "submit"
    if path.startswith("/files/"):
        return "media"
    return {"status": "status", "cancel": "cancel"}.get(path.rsplit("/", 1)[-1], "result")


@asynccontextmanager
async def fal_scene(scene: Scene) -> AsyncIterator[Raw]:
    """The scene, playing on a loopback port."""

    async def script(wire: Wire) -> None:
        said = scene.next(_endpoint(wire.received.method, wire.received.path), seen.url)
        if said is None:
            await asyncio.Event().wait()
        elif said == RESET:
            wire.reset()
        else:
            await wire.send(_addressed(said, seen.url))

    async with raw_server(script) as seen:
        yield seen


RESET = b"reset"


def _addressed(said: bytes, url: str) -> bytes:
    """The reply with the server's address in it, and the length that it has then."""
    if b"{url}" not in said:
        return said
    head, _, body = said.partition(b"\r\n\r\n")
    body = body.replace(b"{url}", url.encode())
    return re.sub(rb"(?<=Content-Length: )\d+", b"%d" % len(body), head) + b"\r\n\r\n" + body


def asked(seen: Raw, endpoint: str) -> list[Mapping[str, str]]:
    """The headers of all requests an endpoint had."""
    return [one.headers for one in seen.requests if _endpoint(one.method, one.path) == endpoint]
