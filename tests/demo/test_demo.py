"""The whole scene, smaller, as a person starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtests.emulators.pictures import read_marks

ROOT = Path(__file__).resolve().parents[2]
IMAGES = 84

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for left processes in /proc")


def demo(out: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "loadtests.demo.command", "--out", str(out), "--port", "0", *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """Where the demo writes; afterwards no process is left that knows of it."""
    yield tmp_path
    left = [pid for pid in os.listdir("/proc") if pid.isdigit() and str(tmp_path) in command_line(pid)]
    assert left == []


def command_line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.timeout(120)
def test_the_scene_keeps_its_promises(out: Path) -> None:
    account_file = out / "deep" / "account.json"
    process = demo(out, "--once", "--images", str(IMAGES), "--json", str(account_file))
    said, _ = process.communicate(timeout=110)
    assert process.returncode == 0, said
    account = json.loads(account_file.read_text())
    assert account["requests"] == account["succeeded"] == IMAGES
    assert account["lost"] == account["duplicates"] == account["failed"] == 0
    assert account["claim"]["cut_by_grace"] >= 3
    assert account["claim"]["starts_after_held"] == 0
    assert account["onprem"] + account["external"] == IMAGES
    assert sum(account["spill_reasons"].values()) == account["external"]
    assert account["external_usd"] == pytest.approx(0.03 * account["external"])
    assert account["redone_onprem"] >= 1
    assert account["replicas"] == 2
    pictures = list((out / "images").glob("*.png"))
    assert len(pictures) == IMAGES
    assert len({read_marks(path.read_bytes())["spillover-job"] for path in pictures}) == IMAGES
    assert (out / "contact-sheet.png").stat().st_size > 10_000
    assert "Every promise was kept" in (out / "report.html").read_text()
    assert "every promise was kept" in said


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("number", "options", "code"), [(signal.SIGINT, (), 0), (signal.SIGTERM, ("--once",), 143)]
)
def test_a_signal_ends_everything(out: Path, number: int, options: tuple[str, ...], code: int) -> None:
    process = demo(out, *options)
    assert process.stdout is not None
    for line in process.stdout:
        if "answered" in line:
            break
    os.kill(process.pid, number)
    process.communicate(timeout=30)
    assert process.returncode == code


@pytest.mark.timeout(60)
def test_the_death_of_a_child_is_told(out: Path) -> None:
    process = demo(out, "--once")
    assert process.stdout is not None
    for line in process.stdout:
        if "answered" in line:
            break
    (victim,) = [pid for pid in children(process.pid) if "fal" in command_line(pid).split("\0")]
    os.kill(int(victim), signal.SIGKILL)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "demo: provider ended with SIGKILL; the end of provider.log:" in said
    assert "Traceback" not in said


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.parametrize(
    "options", [("--images", "50"), ("--rate", "3"), ("--rate", "9"), ("--port", "70000"), ("--seed", "-1")]
)
def test_options_that_cannot_be(out: Path, options: tuple[str, ...]) -> None:
    process = demo(out, "--once", *options)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 2
    assert re.search(rf"Invalid value for .*{options[0]}", said)
