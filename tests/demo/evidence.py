"""Ledger rows and receipts as the demo sees them, made by hand."""

from __future__ import annotations

from loadtests.demo.account import ClaimTimes, Evidence
from loadtests.demo.receipt import Receipt
from loadtests.emulators.ledger import Row

NODE_OF = {"worker-0": "node-1", "worker-7": "node-4"}
CLAIM = ClaimTimes(
    nodes=("node-1",),
    requested_at=110.0,
    drain_at=110.0,
    cut_at=112.0,
    grace_s=2.0,
    held_at=115.0,
    released_at=120.0,
)


def receipt(number: int, job: str, route: str = "onprem", **changes: object) -> Receipt:
    facts = {"status": 200, "job": job, "route": route, "reason": route, "attempts": 1, **changes}
    return Receipt(number, "interactive", 100.0 + number, 101.0 + number, **facts)  # type: ignore[arg-type]


def worker_rows(
    job: str, began: float, ended: float, worker: str = "worker-0", read: bool = True
) -> list[Row]:
    """One generation on a worker, whose reply was read or not."""
    named = {"worker": worker, "generation": f"{job}@{began}", "job": job}
    return [
        {"kind": "received", "wall": began, "steps": 8, **named},
        {"kind": "started", "wall": began, **named},
        {"kind": "finished", "wall": ended, **named},
        {"kind": "delivered" if read else "undelivered", "wall": ended, "status": 200, **named},
    ]


def bill(job: str, wall: float = 113.0) -> Row:
    return {"kind": "billed", "wall": wall, "job": job, "units": 1.0}


def evidence(
    receipts: list[Receipt],
    workers: list[Row] | None = None,
    provider: list[Row] | None = None,
    claim: ClaimTimes = CLAIM,
) -> Evidence:
    return Evidence(receipts, workers or [], provider or [], claim, NODE_OF, 0.03, 2)
