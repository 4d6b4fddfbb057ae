"""Each import contract holds, and each one bites: a planted violation makes lint-imports fail and name it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo.tree import PACKAGES, ROOT, pyproject

LAYERS = "inside the router the edge is on top and pure data at the bottom; no module without a layer"
PURE = "policy and model are pure, also by way of others"

# contract, file (appended to when it exists), line
VIOLATIONS = [
    ("folders point one way", "providers/planted.py", "import router.model"),
    ("folders point one way", "config/planted.py", "import providers.contract"),
    ("folders point one way", "router/model/planted.py", "import loadtests"),
    ("nobody imports the tests", "router/model/planted.py", "import tests.conftest"),
    (LAYERS, "router/utils.py", ""),
    (LAYERS, "router/model/planted.py", "import router.policy"),
    (LAYERS, "router/serving/planted.py", "import router.fleet"),
    (PURE, "router/policy/planted.py", "from time import monotonic"),
    (PURE, "router/model/planted.py", "import random"),
    (PURE, "config/schema.py", "import logging"),
    (PURE, "providers/contract.py", "import providers.http"),
    ("the simulator is deterministic", "router/simulation/planted.py", "import asyncio"),
    ("only the store speaks Redis", "router/fleet/planted.py", "import redis.asyncio"),
    ("only the edge knows FastAPI", "router/serving/planted.py", "from starlette.responses import Response"),
    ("only telemetry knows OpenTelemetry", "router/api/planted.py", "from opentelemetry import trace"),
    ("outgoing HTTP goes through the providers", "router/serving/planted.py", "import httpx"),
    ("outgoing HTTP goes through the providers", "router/fleet/planted.py", "import aiohttp"),
    ("the command line is a client of the admin HTTP", "router/cli/planted.py", "import router.store"),
    ("adapters do not know each other", "providers/fal/planted.py", "import providers.openai_images"),
    (
        "emulators are a second, independent reading of each dialect",
        "loadtests/emulators/planted.py",
        "import providers.contract",
    ),
    (
        "no cycles between siblings",
        "providers/planted.py",
        "import providers.planted_too",
    ),
]


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "providers" / "planted_too.py").write_text("import providers.planted\n")
    (tmp_path / "providers" / "planted.py").write_text("")
    return tmp_path


def test_the_tree_keeps_every_contract(tree: Path) -> None:
    run = lint_imports(tree)
    assert run.returncode == 0, run.stdout


def test_the_one_place_that_may_is_left_alone(tree: Path) -> None:
    for package, line in [
        ("store", "redis.asyncio"),
        ("api", "fastapi"),
        ("telemetry", "opentelemetry.trace"),
    ]:
        (tree / "router" / package / "planted.py").write_text(f"import {line}\n")
    run = lint_imports(tree)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(("contract", "path", "line"), VIOLATIONS)
def test_a_violation_is_named(tree: Path, contract: str, path: str, line: str) -> None:
    (tree / path).parent.mkdir(exist_ok=True)
    (tree / path).with_name("__init__.py").touch()
    with (tree / path).open("a") as planted:
        planted.write(line + "\n")
    run = lint_imports(tree)
    assert run.returncode == 1, run.stdout
    assert f"{contract} BROKEN" in " ".join(run.stdout.split())


def test_every_contract_has_a_violation() -> None:
    contracts = {contract["name"] for contract in pyproject()["tool"]["importlinter"]["contracts"]}
    assert contracts == {contract for contract, _, _ in VIOLATIONS}
