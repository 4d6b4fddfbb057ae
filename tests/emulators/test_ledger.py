"""The ledger is append-only, readable by kind, worker and job, and outlives the process in its file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from loadtests.emulators import Ledger
from loadtests.emulators.attempts import Attempt, read_attempt


def test_rows_are_found_by_kind_worker_and_job() -> None:
    ledger = Ledger()
    ledger.add("started", "w0", job="a")
    ledger.add("started", "w1", job="b")
    ledger.add("finished", "w0", job="a")
    assert [row["kind"] for row in ledger.rows(worker="w0")] == ["started", "finished"]
    assert ledger.count("started") == 2
    assert ledger.count("started", "finished", job="a") == 2
    assert [row["at"] for row in ledger.rows()] == sorted(row["at"] for row in ledger.rows())


def test_most_running_at_once_is_counted_from_the_rows() -> None:
    ledger = Ledger()
    for kind, generation in [
        ("started", "1"), ("started", "2"), ("finished", "1"), ("started", "3"), ("cancelled", "2"),
        ("started", "4"), ("failed", "3"),
    ]:  # fmt: skip
        ledger.add(kind, "w0", generation=generation)
    ledger.add("died", "w0")
    ledger.add("started", "w0", generation="5")
    assert ledger.max_running("w0") == 2
    assert ledger.max_running("w1") == 0


def test_every_row_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with Ledger(path) as ledger:
        ledger.add("started", "w0", job="a")
        assert json.loads(path.read_text())["job"] == "a"
    with Ledger(path) as ledger:
        ledger.add("finished", "w0", job="a")
    assert [json.loads(line)["kind"] for line in path.read_text().splitlines()] == ["started", "finished"]


async def test_until_returns_at_the_row_that_makes_it_true() -> None:
    ledger = Ledger()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(ledger.until(lambda rows: rows.count("finished") == 2))
        for _ in range(2):
            await asyncio.sleep(0)
            assert not waiting.done()
            ledger.add("finished", "w0")


async def test_until_has_a_deadline() -> None:
    with pytest.raises(TimeoutError):
        await Ledger().until(lambda rows: bool(rows.rows()), within=0.01)


@pytest.mark.parametrize(
    ("raw", "attempt"),
    [
        ("job.1.2;fence=99", Attempt("job.1.2;fence=99", "job.1", 2, 99)),
        ("j.3", Attempt("j.3", "j", 3, None)),
        ("nonsense", Attempt("nonsense")),
        (None, Attempt(None)),
    ],
)
def test_the_attempt_header_is_taken_apart(raw: str | None, attempt: Attempt) -> None:
    assert read_attempt(raw) == attempt
