"""The command as a whole: help, version, wrong usage, and how little it imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from router.cli.main import build
from tests.cli.command import ROOT, spillover


def test_help_names_every_built_in_command() -> None:
    ran = spillover("--help")
    assert ran.code == 0
    for name in ("serve", "healthcheck", "config", "keys"):
        assert f"\n  {name} " in ran.out


def test_help_imports_nothing_heavy_and_is_fast() -> None:
    program = (
        "import sys, time; from router.cli.main import build\n"
        "try: build()(['--help'], prog_name='spillover')\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'yaml', 'rich', 'aiohttp', 'redis', 'fastapi', 'opentelemetry', 'ssl'}\n"
        "print(sorted(heavy & set(sys.modules)), time.process_time(), file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    imported, _, seconds = ended.stderr.strip().rpartition(" ")
    assert imported == "[]"
    # About 0.15 s of CPU on an idle machine; the bound leaves room for a busy one.
    assert float(seconds) < 1.0


def test_version() -> None:
    ran = spillover("--version")
    assert ran.code == 0
    assert ran.out.startswith("spillover")


@pytest.mark.parametrize(
    "arguments",
    [["confg"], ["--nope"], ["config", "validate", "--nope"], ["config", "explain"], ["keys", "create"]],
)
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    ran = spillover(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ")


def test_building_twice_shares_nothing() -> None:
    assert build() is not build()
