"""Habits of the house that no other tool watches."""

from __future__ import annotations

import ast
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.repo.tree import PACKAGES, PRODUCT, ROOT, files, modules, text

# Written so that these lines do not match themselves.
HOSTS = re.compile(
    r"(py[p]i|python[h]osted|npm[j]s|registry[.]npm\w*|(deb|security)[.]debian)[.](org|com|net)", re.I
)
PLACES = re.compile(r"(?<![\w.~$})-])/((w[o]rk|r[o]ot|h[o]me)/|t[m]p/w/)")
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}
LONGEST = 300


def readable() -> list[tuple[Path, str]]:
    found = []
    for path in files():
        try:
            found.append((path, text(path)))
        except UnicodeDecodeError:  # an image
            continue
    return found


def test_no_file_names_a_package_host() -> None:
    assert [str(path) for path, content in readable() if HOSTS.search(content)] == []


def test_no_file_names_a_place_on_one_machine() -> None:
    assert [str(path) for path, content in readable() if PLACES.search(content)] == []


def test_the_licence_is_there_in_full() -> None:
    licence = text("LICENSE")
    assert "Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_every_package_says_what_it_is_for() -> None:
    folders = {path.parent for path in modules(*PACKAGES)}
    silent = [
        str(folder)
        for folder in folders
        if not (ROOT / folder / "__init__.py").is_file()
        or not ast.get_docstring(ast.parse(text(folder / "__init__.py")))
    ]
    assert silent == []


def test_no_file_is_named_for_nothing_in_particular() -> None:
    assert [str(path) for path in files() if path.stem in NAMELESS] == []


@pytest.mark.parametrize("path", modules(*PRODUCT), ids=str)
def test_a_product_file_is_short_and_does_not_print(path: Path) -> None:
    source = text(path)
    assert len(source.splitlines()) <= LONGEST
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    assert [call.lineno for call in calls if isinstance(call, ast.Name) and call.id == "print"] == []


def test_commands_load() -> None:
    (script,) = entry_points(group="console_scripts", name="spillover")
    assert callable(script.load())
    assert {entry.name for entry in entry_points(group="spillover.commands") if entry.load()} >= {"demo"}
