"""From image URLs to checked images. The URLs are public and expire, so they are fetched at once."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable

from providers.contract import Image
from providers.fal.patience import get_patiently
from providers.http import Http, Reply, Request
from providers.images import Flaw, check_image

THREAD_FROM_BYTES = 256 * 1024  # below that, base64 costs less than the way to a thread and back


async def fetch_image(
    http: Http, request: Callable[[], Request | None], media_type: str
) -> Image | Flaw | None:
    """The image behind a URL, checked; `None` if it could not be had (a fresh URL may help)."""
    reply = await get_patiently(http, request, lambda reply: reply.status == 200)
    if not isinstance(reply, Reply) or reply.status != 200:
        return None
    return check_image(await _base64(reply.body), media_type=media_type)


async def _base64(body: bytes) -> str:
    if len(body) < THREAD_FROM_BYTES:
        return _encode(body)
    return await asyncio.to_thread(_encode, body)


def _encode(body: bytes) -> str:
    return base64.b64encode(body).decode("ascii")
