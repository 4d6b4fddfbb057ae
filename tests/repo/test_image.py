"""The Dockerfile, read instruction by instruction: no engine is needed to check what is written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo.tree import ROOT, pyproject, text


def instructions() -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text("Dockerfile"), flags=re.MULTILINE))
    pairs = (line.split(maxsplit=1) for line in joined.splitlines() if line.strip())
    return [(word.upper(), " ".join(rest.split())) for word, rest in pairs]


def stages() -> list[list[tuple[str, str]]]:
    split: list[list[tuple[str, str]]] = []
    for word, rest in instructions():
        if word == "FROM":
            split.append([])
        split[-1].append((word, rest))
    return split


BUILDER, FINAL = stages()


def only(word: str) -> str:
    (rest,) = [rest for name, rest in FINAL if name == word]
    return rest


def test_hadolint_finds_nothing() -> None:
    run = subprocess.run(
        [str(Path(sys.executable).with_name("hadolint")), "Dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "")


def test_both_stages_stand_on_one_pinned_base() -> None:
    bases = {stage[0][1].split(" AS ")[0] for stage in (BUILDER, FINAL)}
    assert bases == {"python:3.13-slim-trixie"}


def test_packages_are_installed_by_hash_and_compiled() -> None:
    runs = " && ".join(rest for word, rest in BUILDER if word == "RUN")
    installs = re.findall(r"pip install [^&]+", runs)
    assert len(installs) == 3
    assert all("--require-hashes" in install or "--no-index" in install for install in installs)
    assert "--no-compile" not in runs
    assert "PYTHONDONTWRITEBYTECODE" not in text("Dockerfile")
    assert "PYTHONOPTIMIZE" not in text("Dockerfile")


def test_the_final_stage_installs_nothing() -> None:
    assert [word for word, _ in FINAL if word in {"RUN", "ADD"}] == []
    assert [rest for word, rest in FINAL if word == "COPY"] == [
        "--from=builder /opt/spillover /opt/spillover"
    ]


def test_the_user_is_a_number_and_not_root() -> None:
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", only("USER"))


@pytest.mark.parametrize(("word", "first"), [("ENTRYPOINT", "spillover"), ("CMD", "serve")])
def test_commands_are_in_exec_form(word: str, first: str) -> None:
    assert json.loads(only(word))[0] == first


def test_the_health_check_needs_no_shell() -> None:
    command = json.loads(only("HEALTHCHECK").split("CMD ", 1)[1])
    assert command == ["spillover", "healthcheck", "--url", "http://127.0.0.1:8080/livez"]


def test_signal_and_port() -> None:
    assert only("STOPSIGNAL") == "SIGTERM"
    assert only("EXPOSE") == "8080"


def test_labels_match_the_project() -> None:
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', only("LABEL")))
    project = pyproject()["project"]
    assert labels["title"] == project["name"]
    assert labels["version"] == project["version"]
    assert labels["licenses"] == project["license"]


def test_the_context_is_what_the_builder_copies() -> None:
    allowed = {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")}
    copied = {source for word, rest in BUILDER if word == "COPY" for source in rest.split()[:-1]}
    assert text(".dockerignore").splitlines()[1] == "*"
    assert copied == allowed


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_wheel_of_the_context_runs_on_the_runtime_lock_alone(tmp_path: Path) -> None:
    """The builder's steps in a folder: what the image holds is enough to start the command line."""
    context = tmp_path / "context"
    context.mkdir()
    for word, rest in BUILDER:
        if word == "COPY":
            subprocess.run(["cp", "-r", *rest.split()[:-1], str(context)], cwd=ROOT, check=True)
    steps = " && ".join(rest for word, rest in BUILDER if word == "RUN")
    subprocess.run(["sh", "-ec", steps.replace("/opt", str(tmp_path))], cwd=context, check=True)
    entry = json.loads(only("ENTRYPOINT"))[0]
    shown = subprocess.run(
        [str(tmp_path / "spillover" / "bin" / entry), json.loads(only("CMD"))[0], "--help"],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SPILLOVER_CONFIG" in shown.stdout
    assert "SPILLOVER_CONFIG=/etc/spillover/" in only("ENV")
