"""One demo at a time writes to a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtests.demo.folder import FolderTaken, prepared


def test_a_second_demo_is_refused_and_the_first_keeps_its_ledgers(tmp_path: Path) -> None:
    with prepared(tmp_path):
        ledger = tmp_path / "logs" / "workers.jsonl"
        ledger.write_text("{}")
        with pytest.raises(FolderTaken, match="another demo"), prepared(tmp_path):
            pass
        assert ledger.exists()
    with prepared(tmp_path):
        assert not ledger.exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderTaken, match="--out"), prepared(tmp_path / "file"):
        pass
