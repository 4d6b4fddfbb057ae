"""One replica's picture of the fleet: the store's records as the policy's `Snapshot`.

Reading it costs as much as the fleet is large, so it is taken a few times a second for a whole replica and
never on a request's path; `acquire` is the truth and may answer otherwise.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from router.model.fleet import PoolView, Waiter, WorkerView
from router.store import keys
from router.store.capacity import ClosingNode, closing_node
from router.store.clock import StoreClock
from router.store.link import Link

LISTED_WAITERS = 512


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """One held slot, for pages and checks."""

    worker: str
    node: str
    ticket: str
    replica: str
    state: str
    lane: str
    fence: int
    since: float
    ends: float


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """One pool, for the policy (`view`) and for people (the rest). `blocks`: every node's claims, by id."""

    view: PoolView
    revision: int
    leases: tuple[LeaseRecord, ...]
    closing: Mapping[str, ClosingNode]
    flagged: frozenset[str]
    blocks: Mapping[str, frozenset[str]]
    stuck: str


async def take_picture(link: Link, clock: StoreClock, pool: str) -> PoolPicture:
    """The pool as it stands now."""
    asked = clock.monotonic()
    reply = await link.call("snapshot", keys.pool(pool), LISTED_WAITERS)
    clock.heard(int(reply[0]) / 1000, asked, clock.monotonic())
    nodes = {name: json.loads(text) for name, text in _pairs(reply[4])}
    leases = tuple(_lease(json.loads(text)) for text in reply[5])
    workers = _workers(reply[3], nodes, leases, int(reply[0]) / 1000)
    queue = sorted((_waiter(place) for place in reply[6]), key=lambda waiter: waiter.rank)
    view = PoolView(pool, reply[2] != "1", workers, tuple(queue), int(reply[7]))
    closing = {name: closing_node(node) for name, node in nodes.items() if node.get("claims")}
    flagged = frozenset(name for name, node in nodes.items() if node.get("flag"))
    blocks = {name: frozenset(node.get("claims") or ()) for name, node in nodes.items()}
    return PoolPicture(view, int(reply[1]), leases, closing, flagged, blocks, str(reply[8]))


def _workers(
    rows: Sequence[str], nodes: Mapping[str, dict[str, Any]], leases: Sequence[LeaseRecord], now: float
) -> tuple[WorkerView, ...]:
    ends: dict[str, list[float]] = defaultdict(list)
    for lease in leases:
        ends[lease.worker].append(lease.ends)
    views = []
    for name, text in sorted(_pairs(rows)):
        worker = json.loads(text)
        node = nodes.get(worker["node"], {})
        closing = closing_node(node).closes_at if node.get("claims") else None
        views.append(
            WorkerView(
                id=name,
                node=worker["node"],
                url=worker["url"],
                slots=int(worker["slots"]),
                lanes=frozenset(worker["lanes"].split("|")),
                up=worker["up"] == 1 and worker.get("drain") != 1,
                closed=bool(node.get("flag")) or (closing is not None and closing <= now),
                claimed=closing is not None,
                closes_at=closing,
                ends=tuple(sorted(ends[name])),
            )
        )
    return tuple(views)


def _lease(record: Mapping[str, Any]) -> LeaseRecord:
    return LeaseRecord(
        worker=record["worker"],
        node=record["node"],
        ticket=record["ticket"],
        replica=record["replica"],
        state=record["state"],
        lane=record["lane"],
        fence=int(record["fence"]),
        since=record["since"] / 1000,
        ends=record["ends"] / 1000,
    )


def _waiter(place: str) -> Waiter:
    lane, _, rest = place.partition("\0")
    rank, need, _ = rest.split(":", 2)
    return Waiter(int(rank) / 1000, lane, int(need) / 1000)


def _pairs(reply: Any) -> list[tuple[str, str]]:
    if isinstance(reply, dict):
        return list(reply.items())
    return list(zip(reply[::2], reply[1::2], strict=True))
