"""From a completed request to its outcome: the result, the images behind it, the billed units."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from providers.contract import Call, Ended, Failed, Fault, Image, Outcome, Produced, Spent
from providers.fal.media import fetch_image
from providers.fal.patience import get_patiently
from providers.fal.polling import overdue
from providers.fal.queue import Queue, untrusted
from providers.fal.urls import is_allowed
from providers.fal.verdict import failed_work, is_final
from providers.fal.wire import Result, Status, Ticket, read_result
from providers.http import Reply
from providers.images import Flaw

Fetched = Image | Flaw | None


async def collect(queue: Queue, ticket: Ticket, status: Status, call: Call, deadline: float) -> Outcome:
    """What the attempt came to."""
    reply = await _get_result(queue, ticket, deadline)
    if status.failed:
        # The result repeats the model's own status and body; if it cannot be had, the status has to do.
        return failed_work(_error(reply) or status.complaint())
    if not isinstance(reply, Reply):
        return _without_result(reply)
    if reply.status != 200:
        return failed_work(reply) if is_final(reply) else _without_result(None)
    result = read_result(reply)
    if result is None:
        return _billed("malformed_result")
    if result.is_refused:
        return Failed(Fault.DETERMINISTIC, "content_policy", spent=Spent.YES)
    seconds = None if status.metrics is None else status.metrics.inference_time
    outcome = await _with_images(queue, ticket, result, call, deadline)
    if isinstance(outcome, Failed):
        return outcome
    return replace(outcome, units=_units(reply), server_s=seconds)


async def _with_images(queue: Queue, ticket: Ticket, result: Result, call: Call, deadline: float) -> Outcome:
    urls = [picture.url for picture in result.images or ()][: call.generation.count]
    if not urls:
        return _billed("no_images")
    if not _are_trusted(queue, urls):
        return untrusted(Ended.YES, Spent.YES)
    media_type = f"image/{call.generation.output_format}"
    fetched = await _fetch(queue, urls, media_type, deadline)
    if None in fetched:
        fetched = await _fetch_anew(queue, ticket, fetched, media_type, deadline)
    images = tuple(image for image in fetched if isinstance(image, Image))
    if images:
        return Produced(images, seed=result.seed)
    if queue.clock() >= deadline:
        return overdue(Ended.YES, Spent.YES)
    return _billed(next((str(flaw) for flaw in fetched if flaw is not None), "result_unavailable"))


async def _fetch(queue: Queue, urls: Sequence[str], media_type: str, deadline: float) -> list[Fetched]:
    """All at the same time."""
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(fetch_image(queue.http, partial(queue.get_media, url, deadline), media_type))
            for url in urls
        ]
    return [task.result() for task in tasks]


async def _fetch_anew(
    queue: Queue, ticket: Ticket, fetched: Sequence[Fetched], media_type: str, deadline: float
) -> list[Fetched]:
    """Read the result once more for fresh URLs of what could not be had: the first ones may have expired."""
    reply = await _get_result(queue, ticket, deadline)
    result = read_result(reply) if isinstance(reply, Reply) and reply.status == 200 else None
    urls = [] if result is None else [picture.url for picture in result.images or ()]
    missing = [index for index, image in enumerate(fetched) if image is None and index < len(urls)]
    fresh = [urls[index] for index in missing]
    if not _are_trusted(queue, fresh):
        return list(fetched)
    found = dict(zip(missing, await _fetch(queue, fresh, media_type, deadline), strict=True))
    return [found.get(index, image) for index, image in enumerate(fetched)]


async def _get_result(queue: Queue, ticket: Ticket, deadline: float) -> Reply | Failed | None:
    return await get_patiently(queue.http, partial(queue.get, ticket.response_url, deadline), is_final)


def _are_trusted(queue: Queue, urls: Sequence[str]) -> bool:
    return all(is_allowed(url, queue.base_url, queue.settings.media_hosts) for url in urls)


def _error(reply: Reply | Failed | None) -> Reply | None:
    return reply if isinstance(reply, Reply) and reply.status != 200 else None


def _without_result(reply: Failed | None) -> Failed:
    """It completed, and we cannot have it now; `resume` may still get it."""
    if isinstance(reply, Failed) and reply.fault is Fault.UNUSABLE:
        return _billed(reply.code)
    return Failed(Fault.AMBIGUOUS, "result_unavailable", spent=Spent.POSSIBLE)


def _billed(code: str) -> Failed:
    return Failed(Fault.UNUSABLE, code, spent=Spent.YES)


def _units(reply: Reply) -> float | None:
    """The billed quantity in the model's own unit (megapixels, images, seconds)."""
    try:
        units = float(reply.headers.get("x-fal-billable-units", ""))
    except ValueError:
        return None
    return units if math.isfinite(units) else None
