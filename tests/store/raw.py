"""What a pool's keys hold, read without the wrappers, and what must be true of them after every call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import redis

from router.store import keys

NUL = "\0"
NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True)
class Dump:
    """Every key of one pool."""

    now: float
    meta: dict[str, str]
    workers: dict[str, dict[str, Any]]
    nodes: dict[str, dict[str, Any]]
    leases: dict[str, dict[str, Any]]
    expiry: dict[str, float]
    slots: set[tuple[str, str]]
    free: set[str]
    queue: list[str]
    tickets: dict[str, dict[str, Any]]
    offers: set[str]
    parked: set[str]
    replicas: dict[str, float]
    tombs: dict[str, float]
    all_keys: set[str]

    def places(self) -> list[tuple[str, int, int, str]]:
        """The queue as (lane, rank, need, ticket), in its order."""
        found = []
        for member in self.queue:
            lane, _, rest = member.partition(NUL)
            rank, need, ticket = rest.split(":", 2)
            found.append((lane, int(rank), int(need), ticket))
        return found

    def held(self, worker: str) -> list[str]:
        """Lease ids that hold this worker's slots."""
        return [lease for name, lease in self.slots if name == worker]

    def closes_at(self, node: str) -> float | None:
        record = self.nodes.get(node, {})
        if record.get("flag"):
            return 0
        return min((claim["closes"] for claim in record.get("claims", {}).values()), default=None)

    def has_room(self, name: str) -> bool:
        worker = self.workers[name]
        up = worker["up"] == 1 and worker["drain"] != 1
        return up and len(self.held(name)) < worker["slots"]

    def listens(self, replica: str) -> bool:
        return self.now - self.replicas.get(replica, 0) <= float(self.meta["silent_ms"])


def dump(client: redis.Redis, pool: str = "p") -> Dump:
    """One consistent look (a transaction)."""
    name = dict(zip(keys.POOL, keys.pool(pool), strict=True))
    pipe = client.pipeline(transaction=True)
    pipe.time()
    for part in ("meta", "workers", "nodes", "leases", "tickets"):
        pipe.hgetall(name[part])
    for part in ("expiry", "replicas", "tombs"):
        pipe.zrange(name[part], 0, -1, withscores=True)
    for part in ("slots", "free", "queue", "offers", "parked"):
        pipe.zrange(name[part], 0, -1)
    pipe.keys("*")
    time, *rows = pipe.execute()
    (
        meta,
        workers,
        nodes,
        leases,
        tickets,
        expiry,
        replicas,
        tombs,
        slots,
        free,
        queue,
        offers,
        parked,
        every,
    ) = rows
    return Dump(
        now=time[0] * 1000 + time[1] // 1000,
        meta=meta,
        workers=_records(workers),
        nodes=_records(nodes),
        leases=_records(leases),
        expiry=dict(map(tuple, expiry)),
        slots={tuple(member.split(NUL)) for member in slots},
        free=set(free),
        queue=queue,
        tickets=_records(tickets),
        offers=set(offers),
        parked=set(parked),
        replicas=dict(map(tuple, replicas)),
        tombs=dict(map(tuple, tombs)),
        all_keys=set(every),
    )


def check(seen: Dump, pool: str = "p", *, over: Mapping[str, int] = NOTHING, filled: bool = True) -> None:
    """Raises `AssertionError` where an invariant is broken.

    `over`: leases that workers had before, which may be more than the slots they have now. `filled`: all that
    raises capacity was followed by a fill, so that no slot is free beside a waiter that it fits.
    """
    _check_slots(seen, over)
    _check_tickets(seen)
    if filled and seen.meta.get("closed") != "1":
        assert idle_beside_waiters(seen) == []
    strangers = {key for key in seen.all_keys if f":{{pool:{pool}}}:" in key} - set(keys.pool(pool))
    assert strangers == set()


def idle_beside_waiters(seen: Dump) -> list[tuple[str, str]]:
    """Every (worker, ticket) where the one could be doing the other."""
    found = []
    for name, worker in seen.workers.items():
        if not seen.has_room(name):
            continue
        closing = seen.closes_at(worker["node"])
        for lane, _, need, ticket in seen.places():
            waiter = seen.tickets[ticket]
            fits = lane in worker["lanes"].split("|") and name not in waiter["avoid"].split("|")
            opens = closing is None or seen.now + need <= closing
            if fits and opens and waiter["deadline"] > seen.now and seen.listens(waiter["replica"]):
                found.append((name, ticket))
    return found


def _check_slots(seen: Dump, over: Mapping[str, int]) -> None:
    by_slot = {lease: worker for worker, lease in seen.slots}
    assert len(by_slot) == len(seen.slots)
    assert by_slot == {name: lease["worker"] for name, lease in seen.leases.items()}
    assert set(seen.expiry) == set(seen.leases)
    offered = {f"{it['replica']}{NUL}{name}" for name, it in seen.leases.items() if it["state"] == "offered"}
    assert seen.offers == offered
    for name, worker in seen.workers.items():
        assert len(seen.held(name)) <= max(worker["slots"], over.get(name, 0))
    _check_free(seen)
    fences = [int(lease["fence"]) for lease in seen.leases.values()]
    assert len(set(fences)) == len(fences)
    assert max(fences, default=0) <= int(seen.meta.get("fence", 0))


def _check_free(seen: Dump) -> None:
    """FREE lists exactly the workers with room on open nodes; one whose node closed by time may linger."""
    lingering = set()
    expected = set()
    for name, worker in seen.workers.items():
        closing = seen.closes_at(worker["node"])
        for lane in worker["lanes"].split("|"):
            member = f"{lane}{NUL}{'' if closing is None else '~'}{name}"
            if seen.has_room(name) and (closing is None or closing > seen.now):
                expected.add(member)
            elif closing:
                lingering.add(member)
    assert expected <= seen.free <= expected | lingering


def _check_tickets(seen: Dump) -> None:
    queued = [ticket for *_, ticket in seen.places()]
    parked = [member.split(NUL)[1] for member in seen.parked]
    assert len(queued + parked) == len(set(queued + parked)), "a ticket stands twice"
    waiting = {name for name, ticket in seen.tickets.items() if ticket["state"] == "waiting"}
    assert set(queued + parked) == waiting
    busy = [lease["ticket"] for lease in seen.leases.values() if lease["state"] != "ghost"]
    assert len(busy) == len(set(busy)), "a ticket holds two slots"
    assert not waiting & set(busy), "a ticket has a place and a slot"
    for name, ticket in seen.tickets.items():
        if ticket["state"] != "waiting":
            lease = seen.leases[ticket["lease"]]
            assert lease["ticket"] == name
            assert not lease.get("let_go")
            assert (lease["state"] == "offered") == (ticket["state"] == "offered")


def _records(rows: dict[str, str]) -> dict[str, dict[str, Any]]:
    return {name: json.loads(text) for name, text in rows.items()}
