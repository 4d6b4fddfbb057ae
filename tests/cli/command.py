"""The command as a shell runs it: a process with arguments, an environment and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def spillover(*arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> Ran:
    """Run `spillover` with `arguments`; only `env` and what Python itself needs is in the environment."""
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "router.cli", *map(str, arguments)],
        cwd=cwd,
        env=bare | dict(env or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr)
