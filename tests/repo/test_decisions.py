"""The decisions are one numbered page each, and the page of dependencies lists exactly what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.tree import direct_dependencies, files, normalised, text

PAGES = [path for path in files() if path.parts[:2] == ("docs", "decisions")]


def test_pages_are_numbered_without_gaps() -> None:
    numbers = [int(path.name.split("-", 1)[0]) for path in PAGES]
    assert numbers == list(range(1, len(PAGES) + 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_has_its_four_parts(page: Path) -> None:
    headings = re.findall(r"^## (.*)$", text(page), flags=re.MULTILINE)
    assert headings == ["Context", "Decision", "Consequences", "Sources"]
    assert text(page).startswith(f"# {int(page.name[:4])}. ")
    assert re.search(r"^Status: \w+", text(page), flags=re.MULTILINE)


def test_every_dependency_has_a_reason_and_nothing_else_has() -> None:
    (page,) = [path for path in PAGES if path.name.endswith("-dependencies.md")]
    rows = {normalised(name) for name in re.findall(r"^\| `([^`]+)` \|", text(page), flags=re.MULTILINE)}
    assert rows == set(direct_dependencies())
