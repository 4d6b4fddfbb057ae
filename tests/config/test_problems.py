"""Paths are written and read back; hints name what is near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.problems import Path, Problem, did_you_mean, read, written

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", fullmatch=True)


@given(st.lists(NAMES | st.integers(0, 99_999), min_size=1, max_size=6).map(tuple))
def test_a_path_is_read_as_it_was_written(path: Path) -> None:
    assert read(written(path)) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a]b", 'a"b', "a b", '"a'])
def test_what_is_no_path(text: str) -> None:
    assert read(text) is None


def test_a_path_as_operators_write_it() -> None:
    assert written(("pools", "fal", "models", "krea-2-turbo", "prices", 0, "valid_from")) == (
        "pools.fal.models.krea-2-turbo.prices[0].valid_from"
    )
    assert written(("models", "flux.1-dev", "steps")) == 'models."flux.1-dev".steps'
    assert "\x1b" not in written(("a\x1b[31m",))
    assert len(written(("x" * 10_000,))) < 200


def test_a_problem_as_one_line() -> None:
    assert (
        str(Problem("a.b", 3, 5, "unknown key", "did you mean `c`?"))
        == "3:5: a.b: unknown key (did you mean `c`?)"
    )
    assert str(Problem("", 1, 1, "the file is empty")) == "1:1: the file is empty"


def test_did_you_mean() -> None:
    assert (
        did_you_mean("daily_buget_usd", ("daily_budget_usd", "region")) == "did you mean `daily_budget_usd`?"
    )
    assert did_you_mean("zzz", ("region",)) == ""
    assert did_you_mean("x" * 1_000_000, ("x" * 90,)) != ""
    assert did_you_mean(None, ("region",)) == ""
