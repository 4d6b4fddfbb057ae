"""Commands of other packages are named in the help and imported only when they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import ROOT, spillover

MODULE = """
import sys
import typer
print("imported", file=sys.stderr)
app = typer.Typer()

@app.command()
def run(count: int = 1, name: str = typer.Argument("nobody")) -> None:
    print(f"{name} {count}")
    raise typer.Exit(7)

def function(loud: bool = False) -> None:
    "A function with words."
    print("LOUD" if loud else "quiet")
"""
ENTRIES = """[spillover.commands]
borrowed = extension:app
plain = extension:function
broken = extension_that_is_absent:app
serve = extension:app
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An installed package `extension`, as pip leaves one behind."""
    (tmp_path / "extension.py").write_text(MODULE)
    info = tmp_path / "extension-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extension\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    return {"PYTHONPATH": f"{tmp_path}:{ROOT}"}


def test_help_names_them_without_importing_them(env: dict[str, str]) -> None:
    ran = spillover("--help", env=env)
    assert (ran.code, ran.err) == (0, "")
    for name in ("borrowed", "plain", "broken"):
        assert f"\n  {name} " in ran.out
    assert "From the package extension." in ran.out


def test_arguments_options_and_exit_code_pass_through(env: dict[str, str]) -> None:
    ran = spillover("borrowed", "--count", "3", "somebody", env=env)
    assert (ran.code, ran.out, ran.err) == (7, "somebody 3\n", "imported\n")


def test_their_own_help_is_theirs(env: dict[str, str]) -> None:
    ran = spillover("borrowed", "--help", env=env)
    assert ran.code == 0
    assert "--count" in ran.out
    assert "spillover borrowed" in ran.out


def test_a_function_is_a_command(env: dict[str, str]) -> None:
    assert spillover("plain", "--loud", env=env).out == "LOUD\n"
    assert "A function with words." in spillover("plain", "--help", env=env).out


def test_wrong_usage_of_theirs_is_2(env: dict[str, str]) -> None:
    assert spillover("borrowed", "--nope", env=env).code == 2


def test_one_that_cannot_be_loaded_says_why(env: dict[str, str]) -> None:
    ran = spillover("broken", env=env)
    assert (ran.code, ran.out) == (1, "")
    assert "No module named 'extension_that_is_absent'" in ran.err


def test_a_built_in_command_cannot_be_replaced(env: dict[str, str]) -> None:
    ran = spillover("serve", "absent.yaml", env=env)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "spillover: there is no file absent.yaml")
