"""The repository as these tests see it: its root, its files and its project table."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("router", "providers", "config")
PACKAGES = (*PRODUCT, "loadtests")


@cache
def files() -> tuple[Path, ...]:
    """Every file that is committed or would be, relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return tuple(sorted(Path(name) for name in listing.split("\0") if name and (ROOT / name).is_file()))


def modules(*folders: str) -> list[Path]:
    """The Python files below these top-level folders."""
    return [path for path in files() if path.suffix == ".py" and path.parts[0] in folders]


def text(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads(text("pyproject.toml"))


def direct_dependencies() -> dict[str, str]:
    """Normalised name to requirement, of the run time and of every extra, without references to ourselves."""
    project = pyproject()["project"]
    lines = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    named = {normalised(re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]): line for line in lines}
    named.pop("spillover")
    return named


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
