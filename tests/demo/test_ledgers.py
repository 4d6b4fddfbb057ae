"""A ledger is read while it is written."""

from __future__ import annotations

from pathlib import Path

from loadtests.demo.ledgers import Follower


def test_only_whole_lines_are_read_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    follower = Follower(path)
    assert follower.catch_up() == []
    with path.open("a", encoding="utf-8") as file:
        file.write('{"n": 1}\n{"n": ')
        file.flush()
        assert follower.catch_up() == [{"n": 1}]
        assert follower.catch_up() == []
        file.write('2}\n{"n": 3}\n')
        file.flush()
    assert follower.catch_up() == [{"n": 2}, {"n": 3}]
    assert [row["n"] for row in follower.rows] == [1, 2, 3]
