"""Reads the emulators' ledgers, which are JSON lines, while they are being written."""

import json
from pathlib import Path

from loadtests.emulators.ledger import Row


class Follower:
    """All rows of one ledger so far. `catch_up` reads what was added since the last call."""

    def __init__(self, path: Path) -> None:
        self.rows: list[Row] = []
        self._path = path
        self._position = 0

    def catch_up(self) -> list[Row]:
        """The new rows. A line that is still being written is left for the next call."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._position)
            added = file.read()
        whole, _, _ = added.rpartition(b"\n")
        self._position += len(whole) + 1 if whole else 0
        rows = [json.loads(line) for line in whole.splitlines()]
        self.rows.extend(rows)
        return rows
