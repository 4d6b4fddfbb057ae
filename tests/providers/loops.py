"""The two event loops that Spillover runs on: uvloop in the gateway, asyncio's own elsewhere."""

from __future__ import annotations

import pytest

Backend = tuple[str, dict[str, bool]]


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> Backend:
    """Imported by modules whose tests depend on how a loop writes, connects and closes."""
    return ("asyncio", {"use_uvloop": request.param})
