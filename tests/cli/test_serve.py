"""`spillover serve` starts nothing with a file that has problems."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import spillover
from tests.config.deployments import FULL


def test_a_file_with_problems_is_not_served(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(FULL.replace("rack: a", "rakc: a"))
    ran = spillover("serve", path, env={"FAL_KEY": "id:hunter2"})
    assert (ran.code, ran.out) == (1, "")
    assert "did you mean `rack`?" in ran.err
    assert "spillover config validate" in ran.err
    assert "hunter2" not in ran.err


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert spillover("serve", tmp_path / "absent.yaml").code == 2
