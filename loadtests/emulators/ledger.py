"""What really happened at the emulated servers: append-only rows, in memory and, if wanted, in a file.

The ledger is the witness of every test: the router's own accounts are compared with it. It is written by one
event loop; the JSONL file is flushed row by row so that it survives the death of the process.
"""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

Row = dict[str, Any]

# Kinds that take a generation off its worker (finished) or its runner (completed).
ENDS = frozenset({"finished", "completed", "failed", "cancelled"})


class Ledger:
    """Rows of `at` (monotonic), `wall` (unix), `kind`, `worker` and whatever the kind carries."""

    def __init__(self, path: Path | None = None) -> None:
        self._rows: list[Row] = []
        self._file: TextIO | None = path.open("a", encoding="utf-8") if path else None
        self._grown = asyncio.Event()

    def add(self, kind: str, worker: str, **fields: Any) -> Row:
        wall = time.time()  # noqa: TID251 - rows of several processes and machines are put side by side
        row: Row = {"at": time.monotonic(), "wall": wall, "kind": kind, "worker": worker, **fields}
        self._rows.append(row)
        if self._file is not None:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
        self._grown.set()
        return row

    def rows(self, *kinds: str, worker: str | None = None, job: str | None = None) -> list[Row]:
        """Rows in order; without arguments all of them, else those that match everything given."""
        return [
            row
            for row in self._rows
            if (not kinds or row["kind"] in kinds)
            and (worker is None or row["worker"] == worker)
            and (job is None or row.get("job") == job)
        ]

    def count(self, *kinds: str, worker: str | None = None, job: str | None = None) -> int:
        return len(self.rows(*kinds, worker=worker, job=job))

    def max_running(self, worker: str) -> int:
        """The most generations that were ever on this worker at once, counted from the rows alone."""
        on, most = set[str](), 0
        for row in self.rows("started", "died", *ENDS, worker=worker):
            if row["kind"] == "died":
                on.clear()
            elif row["kind"] == "started":
                on.add(row["generation"])
            else:
                on.discard(row["generation"])
            most = max(most, len(on))
        return most

    async def until(self, condition: Callable[["Ledger"], bool], within: float = 5.0) -> None:
        """Return when the condition holds, looked at after every row. TimeoutError after `within` seconds."""
        async with asyncio.timeout(within):
            while not condition(self):
                self._grown.clear()
                await self._grown.wait()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
