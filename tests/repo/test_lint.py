"""The names that product code may not use are refused by the linter, each with its replacement."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo.tree import ROOT

BANNED = [
    ("router/serving/loop.py", "import asyncio\n\nasyncio.create_task(None)\n", "TaskGroup"),
    ("router/serving/loop.py", "import asyncio\n\nasyncio.ensure_future(None)\n", "TaskGroup"),
    (
        "router/policy/step.py",
        "from datetime import UTC, datetime\n\ndatetime.now(tz=UTC)\n",
        "as an argument",
    ),
    ("router/policy/step.py", "import time\n\ntime.time()\n", "monotonic"),
    ("router/policy/step.py", "import random\n\nrandom.random()\n", "random.Random"),
    ("router/api/images.py", "from opentelemetry.sdk.trace import TracerProvider\n", "otel.py"),
    ("router/api/images.py", "from unittest.mock import patch\n", "real server"),
    ("providers/fal.py", "import tests.conftest\n", "does not know its tests"),
    ("tests/policy/test_step.py", "from unittest.mock import patch\n", "real server"),
]


def ruff(path: str, source: str) -> str:
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("ruff")),
            *("check", "--select", "TID251", "--no-cache", "--stdin-filename", path, "-"),
        ],
        cwd=ROOT,
        input=source,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize(("path", "source", "hint"), BANNED)
def test_a_banned_name_is_refused(path: str, source: str, hint: str) -> None:
    report = ruff(path, source)
    assert "TID251" in report
    assert hint in report


def test_one_file_knows_the_sdk() -> None:
    assert "TID251" not in ruff(
        "router/telemetry/otel.py", "from opentelemetry.sdk.trace import TracerProvider\n"
    )
