"""Telemetry reads the standard variables: none are set unless a test sets them."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_otel_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
