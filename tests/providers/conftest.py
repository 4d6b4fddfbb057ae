"""The outgoing HTTP that the tests of the dialects share, and pictures to answer with."""

from __future__ import annotations

import base64
import io
from collections.abc import AsyncIterator

import pytest
from PIL import Image

from providers.http import Http, open_http


@pytest.fixture
async def http(anyio_backend: object) -> AsyncIterator[Http]:
    async with open_http() as opened:
        yield opened


@pytest.fixture(scope="session")
def png_bytes() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 30, 30)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="session")
def png(png_bytes: bytes) -> str:
    return base64.b64encode(png_bytes).decode()
