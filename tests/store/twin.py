"""A pool as dicts and sets: what its scripts must do, said a second time without Redis, bytes or clocks.

Moments are two: `PAST` and `FAR`. Everything else that depends on time is told to the twin by its user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

PAST = 0
FAR = 1_000_000_000_000_000


@dataclass
class Worker:
    node: str
    slots: int
    lanes: tuple[str, ...]
    up: bool = False
    drain: bool = False


@dataclass
class Node:
    flag: bool = False
    claims: dict[str, int] = field(default_factory=dict)
    epoch: int = 0

    @property
    def closes(self) -> int | None:
        return PAST if self.flag else min(self.claims.values(), default=None)


@dataclass
class Ticket:
    replica: str
    lane: str
    rank: int
    long: bool
    need: int
    doomed: bool
    avoid: tuple[str, ...]
    state: str = "waiting"
    lease: str | None = None


@dataclass
class Lease:
    worker: str
    node: str
    ticket: str
    replica: str
    lane: str
    long: bool
    state: str
    let_go: bool = False
    due: bool = False


class Twin:
    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}
        self.nodes: dict[str, Node] = {}
        self.leases: dict[str, Lease] = {}
        self.tickets: dict[str, Ticket] = {}
        self.queue: set[str] = set()
        self.parked: set[str] = set()
        self.listening: set[str] = set()
        self.tombs: set[str] = set()
        self.closed = False
        self.swept = ""
        self.offers = 0

    # ------------------------------------------------------------------------------------ what is free

    def held(self, worker: str) -> int:
        return sum(lease.worker == worker for lease in self.leases.values())

    def has_room(self, name: str) -> bool:
        worker = self.workers[name]
        return worker.up and not worker.drain and self.held(name) < worker.slots

    def closes(self, node: str) -> int | None:
        return self.nodes[node].closes if node in self.nodes else None

    def opens(self, node: str, *, long: bool) -> bool:
        closing = self.closes(node)
        return closing is None or (closing == FAR and not long)

    def free(self, lane: str) -> list[str]:
        """Workers with room on open nodes, in the order they are asked: those about to close come last."""
        fitting = [
            (closing is not None, name)
            for name, worker in self.workers.items()
            for closing in [self.closes(worker.node)]
            if lane in worker.lanes and self.has_room(name) and closing != PAST
        ]
        return [name for _, name in sorted(fitting)]

    # ------------------------------------------------------------------------------------------ fill

    def order(self, ticket: str) -> tuple[str, int, int, str]:
        it = self.tickets[ticket]
        return it.lane, it.rank, it.need, ticket

    def lane(self, name: str) -> list[str]:
        return sorted((t for t in self.queue if self.tickets[t].lane == name), key=self.order)

    def head(self, lane: str, fits: Callable[[Ticket], bool]) -> str | None:
        for name in self.lane(lane):
            ticket = self.tickets[name]
            if ticket.doomed:
                self.queue.discard(name)
                del self.tickets[name]
            elif ticket.replica not in self.listening:
                self.queue.discard(name)
                self.parked.add(name)
            elif fits(ticket):
                return name
        return None

    def best(self, name: str) -> str | None:
        if not self.has_room(name):
            return None
        worker = self.workers[name]
        heads = [
            self.head(lane, lambda it: name not in it.avoid and self.opens(worker.node, long=it.long))
            for lane in worker.lanes
        ]
        found = [ticket for ticket in heads if ticket is not None]
        return min(found, key=lambda ticket: self.tickets[ticket].rank, default=None)

    def fill(self, name: str, latest: int | None = None) -> None:
        if self.closed or name not in self.workers:
            return
        while (found := self.best(name)) is not None:
            ticket = self.tickets[found]
            if latest is not None and ticket.rank > latest:
                return
            self.queue.discard(found)
            self.offers += 1
            ticket.state, ticket.lease = "offered", f"offer {self.offers}"
            self.grant(ticket.lease, name, found, ticket, "offered")

    def fill_lane(self, lane: str) -> None:
        for name in self.free(lane)[:16]:
            if not self.lane(lane):
                return
            self.fill(name)

    def grant(self, lease: str, worker: str, ticket: str, ask: Ticket, state: str) -> None:
        node = self.workers[worker].node
        self.leases[lease] = Lease(worker, node, ticket, ask.replica, ask.lane, ask.long, state)

    # ------------------------------------------------------------------------------------- how it ends

    def forget_ticket(self, lease: str) -> None:
        ticket = self.leases[lease].ticket
        if ticket in self.tickets and self.tickets[ticket].lease == lease:
            del self.tickets[ticket]

    def finish(self, lease: str) -> None:
        self.forget_ticket(lease)
        del self.leases[lease]
        self.tombs.add(lease)

    def withdraw(self, lease: str) -> None:
        name = self.leases[lease].ticket
        ticket = self.tickets.get(name)
        self.finish(lease)
        if ticket is not None and ticket.lease == lease:
            ticket.state, ticket.lease = "waiting", None
            self.tickets[name] = ticket
            self.queue.add(name)

    def reap(self) -> None:
        for name in sorted(name for name, lease in self.leases.items() if lease.due):
            if name not in self.leases:
                continue
            lease = self.leases[name]
            lease.due = False
            if lease.state == "offered":
                self.listening.discard(lease.replica)
                self.withdraw(name)
                self.fill(lease.worker)
            elif lease.state == "leased":
                lease.state = "ghost"
            elif not self.nodes[lease.node].claims:
                self.finish(name)
                self.fill(lease.worker)

    def stands(self, lease: Lease) -> bool:
        worker = self.workers.get(lease.worker)
        up = worker is not None and worker.up and not worker.drain
        return up and self.opens(lease.node, long=lease.long)

    def revoke(self, workers: Iterable[str]) -> None:
        lanes = []
        for worker in workers:
            for name in sorted(name for name, lease in self.leases.items() if lease.worker == worker):
                lease = self.leases[name]
                if lease.state == "offered" and not self.stands(lease):
                    self.withdraw(name)
                    lanes.append(lease.lane)
            self.fill(worker)
        for lane in lanes:
            self.fill_lane(lane)

    # -------------------------------------------------------------------------------------- operations

    def acquire(
        self, name: str, lease: str, ask: Ticket, *, preferred: tuple[str, ...], queue: bool
    ) -> tuple[str, ...]:
        self.reap()
        held = self.leases.get(lease)
        if lease in self.tombs or (held and held.let_go):
            return ("denied", "ended")
        if held:
            if held.state == "ghost":
                held.state, held.due = "leased", False
            return ("leased", held.worker)
        known = self.tickets.get(name)
        if known and known.state == "offered":
            return ("offered",)
        if self.closed:
            return ("denied", "pool_closed")
        if known:
            self.queue.discard(name)
            self.parked.discard(name)
            del self.tickets[name]
        for worker in [*preferred, *self.free(ask.lane)[:16]]:
            if self._takes(worker, ask):
                self.tombs.discard(f"left:{name}")
                self.grant(lease, worker, name, ask, "leased")
                return ("leased", worker)
        if not queue:
            if known and known.state == "waiting":
                self.tickets[name] = known
                self.queue.add(name)
            return ("denied", "no_free_slot")
        self.tombs.discard(f"left:{name}")
        self.tickets[name] = replace(ask)
        self.queue.add(name)
        return ("queued", str(self.lane(ask.lane).index(name)))

    def _takes(self, worker: str, ask: Ticket) -> bool:
        it = self.workers.get(worker)
        if it is None or worker in ask.avoid or ask.lane not in it.lanes:
            return False
        if not self.opens(it.node, long=ask.long):
            return False
        self.fill(worker, ask.rank)
        return self.has_room(worker)

    def accept(self, replica: str, name: str) -> tuple[str, ...]:
        ticket = self.tickets.get(name)
        if ticket is None:
            return ("gone",)
        if ticket.lease is None:
            return ("waiting",)
        lease = self.leases[ticket.lease]
        if lease.replica != replica:
            return ("gone",)
        if lease.state == "offered":
            if self.closed or not self.stands(lease):
                self.withdraw(ticket.lease)
                self.fill(lease.worker)
                self.fill_lane(lease.lane)
                return ("waiting",)
            ticket.state = "taken"
        if lease.state != "leased":
            lease.state, lease.due = "leased", False
        return ("leased", lease.worker)

    def leave(self, name: str) -> str:
        if f"left:{name}" in self.tombs:
            return "left"
        ticket = self.tickets.get(name)
        if ticket is None or ticket.state == "taken":
            return "gone"
        if ticket.state == "offered":
            return "offered"
        self.queue.discard(name)
        self.parked.discard(name)
        del self.tickets[name]
        self.tombs.add(f"left:{name}")
        return "left"

    def release(self, name: str, ended: str) -> str:
        self.reap()
        lease = self.leases.get(name)
        if lease is None:
            self.tombs.add(name)
            return "unknown"
        if ended == "unknown" and lease.state != "offered":
            self.forget_ticket(name)
            if not lease.let_go:
                lease.let_go, lease.state, lease.due = True, "ghost", False
            return "ghost"
        self.finish(name)
        self.fill(lease.worker)
        return "released"

    def renew(self, replica: str, name: str) -> str:
        lease = self.leases.get(name)
        if lease is None or lease.replica != replica or lease.state == "offered" or lease.let_go:
            return "lost"
        lease.state, lease.due = "leased", False
        return "ok"

    def tend(self, replica: str) -> set[str]:
        self.listening.add(replica)
        self.reap()
        for name in sorted(self.parked):
            ticket = self.tickets[name]
            if ticket.replica == replica:
                self.parked.discard(name)
                self.queue.add(name)
            elif ticket.doomed:
                self.parked.discard(name)
                del self.tickets[name]
        for lane in self._round():
            self.swept = lane
            self.head(lane, lambda _: True)
            self.fill_lane(lane)
        return {it.ticket for it in self.leases.values() if it.replica == replica and it.state == "offered"}

    def _round(self) -> Iterable[str]:
        """The lanes with waiters, from where the last round stopped; serving one may empty others."""
        began, lane = self.swept, self.swept
        wrapped = began == ""
        while True:
            waiting = {self.tickets[name].lane for name in self.queue}
            found = min((name for name in waiting if name > lane), default=None)
            if found is None and not wrapped:
                wrapped = True
                found = min(waiting, default=None)
            if found is None or (wrapped and began != "" and found > began):
                return
            lane = found
            yield lane

    def put(self, name: str, node: str, slots: int, lanes: tuple[str, ...]) -> str:
        old = self.workers.get(name)
        self.nodes.setdefault(node, Node())
        if old and (old.slots, old.lanes, old.drain) == (slots, lanes, False):
            return "same"
        self.workers[name] = Worker(node, slots, lanes, up=old.up if old else False)
        self.revoke([name])
        return "changed" if old else "new"

    def drop(self, name: str) -> str:
        if name not in self.workers:
            return "unknown"
        self.workers[name].drain = True
        self.revoke([name])
        if self.held(name):
            return "draining"
        del self.workers[name]
        return "dropped"

    def seen(self, name: str, *, up: bool, proved: set[str]) -> int:
        """`proved`: what the evidence covers, if it is a ghost."""
        self.reap()
        if name not in self.workers:
            return 0
        self.workers[name].up = up
        over = [
            key
            for key, it in self.leases.items()
            if it.worker == name and it.state == "ghost" and key in proved
        ]
        for key in over:
            self.finish(key)
        self.revoke([name])
        return len(over)

    def block(self, claim: str, closes: int, nodes: Iterable[str]) -> list[int]:
        for name in nodes:
            node = self.nodes.setdefault(name, Node())
            if closes < node.claims.get(claim, FAR + 1):  # a repeated call makes it earlier or nothing
                node.claims[claim] = closes
                node.epoch += 1
        self._apply(nodes)
        return [self.nodes[name].epoch for name in nodes]

    def unblock(self, claim: str, nodes: Iterable[str]) -> int:
        had = [name for name in nodes if name in self.nodes and claim in self.nodes[name].claims]
        for name in had:
            del self.nodes[name].claims[claim]
            self.nodes[name].epoch += 1
        self._apply(had)
        return len(had)

    def flag(self, name: str, *, off: bool) -> None:
        node = self.nodes.setdefault(name, Node())
        if node.flag != off:
            node.flag = off
            node.epoch += 1
            self._apply([name])

    def _apply(self, nodes: Iterable[str]) -> None:
        self.revoke([worker for node in nodes for worker in self.by_node(node)])

    def by_node(self, node: str) -> list[str]:
        """In the order they were written: a worker never moves here."""
        return [name for name, worker in self.workers.items() if worker.node == node]
