"""Deployments of real processes. A calm one is shared by the tests that break nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.journeys.stack import Stack, stack


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One gateway, four quick workers, one provider."""
    with stack(tmp_path_factory.mktemp("calm")) as running:
        yield running
