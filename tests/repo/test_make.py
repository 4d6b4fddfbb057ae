"""`make` on a bare machine, and the script that CI runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.repo.tree import ROOT, text


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_without_a_fitting_python_it_says_what_is_needed(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    run = make("test", f"VENV={environment}", "PYTHON=python-that-is-missing false")
    assert run.returncode != 0
    assert "no fitting Python found among: python-that-is-missing false" in run.stderr
    assert "3.11, 3.12 or 3.13" in run.stderr
    assert not environment.exists()


def test_a_python_that_does_not_start_is_passed_over(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    run = make("--dry-run", "setup", f"VENV={environment}", "PYTHON=false python3")
    assert run.returncode == 0
    assert "for python in" in run.stdout


def test_every_target_is_explained() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text("Makefile"), flags=re.MULTILINE)
    shown = make("help").stdout
    assert [target for target in phony.split() if target != "help" and f"make {target}" not in shown] == []


def test_ci_runs_what_a_person_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)
    stages = re.findall(r"^stage \w+ (make .*)$", text(script), flags=re.MULTILINE)
    assert [stage.split()[1] for stage in stages] == ["setup", "check", "test", "demo"]
