"""What the emulated servers wrote down, read from their files: it survives any process."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]

ENDS = frozenset({"finished", "completed", "failed", "cancelled", "refused"})


@dataclass(frozen=True)
class Witness:
    """One ledger."""

    path: Path

    def rows(self, *kinds: str, job: str | None = None) -> list[Row]:
        """Rows in order, of these kinds or of all."""
        if not self.path.exists():
            return []
        whole = self.path.read_text(encoding="utf-8").rpartition("\n")[0]
        found = [json.loads(line) for line in whole.splitlines()]
        return [
            row
            for row in found
            if (not kinds or row["kind"] in kinds) and (job is None or row.get("job") == job)
        ]

    def count(self, *kinds: str, job: str | None = None) -> int:
        return len(self.rows(*kinds, job=job))

    def times_made(self) -> Counter[str]:
        """How often each job was made to its end."""
        return Counter(row["job"] for row in self.rows("finished", "completed"))

    def most_at_once(self) -> dict[str, int]:
        """For every worker: the most generations it was ever given at once, running or queued inside it."""
        present: dict[str, set[str]] = {}
        most: dict[str, int] = {}
        for row in self.rows("received", "died", *ENDS):
            on = present.setdefault(row["worker"], set())
            if row["kind"] == "died":
                on.clear()
            elif row["kind"] == "received":
                on.add(row["generation"])
            else:
                on.discard(row["generation"])
            most[row["worker"]] = max(most.get(row["worker"], 0), len(on))
        return most
