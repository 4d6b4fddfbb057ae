"""Slots: typed calls of a pool's scripts. Every call may be repeated; see each script's header."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from router.model.claim import Occupancy
from router.model.step import OnPrem
from router.store import keys
from router.store.clock import StoreClock
from router.store.link import Link

RENEW_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Lease:
    """A slot held by one attempt. The first request byte may be written only before `send_by` (monotonic)."""

    id: str
    pool: str
    worker: str
    url: str
    node: str
    fence: int
    send_by: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A place in the queue, with about `ahead` better-ranked waiters of the lane."""

    ahead: int


@dataclass(frozen=True, slots=True)
class Offered:
    """A slot was offered to the ticket already: accept it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """No slot and no place."""

    why: str


@dataclass(frozen=True, slots=True)
class ClosingNode:
    """A node that takes no work after `closes_at`; what runs past `cut_at` is cut (store time, seconds)."""

    closes_at: float
    cut_at: float
    epoch: int


@dataclass(frozen=True, slots=True)
class Tended:
    """A heartbeat's answer. `closing` is `None` when nothing changed since the revision that was sent."""

    revision: int
    offered: tuple[str, ...]
    closing: Mapping[str, ClosingNode] | None


class Capacity:
    """The slots of all on-prem pools, as one replica sees them."""

    def __init__(self, link: Link, clock: StoreClock, replica: str, send_window_s: float) -> None:
        self._link = link
        self._clock = clock
        self._replica = replica
        self._send_window_s = send_window_s

    async def open_pool(
        self, pool: str, lease_s: float, offer_s: float, silent_s: float, freeze_s: float
    ) -> None:
        """Raises `StoreSchema` if the store holds data of a version this program does not know."""
        answer = await self._link.call(
            "pool_open",
            keys.pool(pool),
            keys.SCHEMA,
            _ms(lease_s),
            _ms(offer_s),
            _ms(silent_s),
            _ms(freeze_s),
        )
        if answer == "schema":
            raise StoreSchema(f"pool {pool!r} in this store was written by another version of Spillover")

    async def acquire(
        self, ticket: str, lease_id: str, placement: OnPrem, deadline: float
    ) -> Lease | Standing | Offered | Refused:
        """Takes a slot, or a place in the queue where the placement asks for one."""
        asked = self._clock.monotonic()
        reply = await self._link.call(
            "acquire",
            keys.pool(placement.pool),
            self._replica,
            ticket,
            lease_id,
            placement.lane,
            _ms(placement.rank),
            _ms(placement.need_s),
            _ms(placement.budget_s),
            _ms(deadline),
            int(placement.queue),
            "|".join(placement.preferred),
            "|".join(placement.avoid),
        )
        match reply[0]:
            case "leased":
                return self._lease(placement.pool, lease_id, reply[1:], asked)
            case "queued":
                return Standing(int(reply[1]))
            case "offered":
                return Offered()
            case _:
                return Refused(str(reply[1]))

    async def accept(self, pool: str, ticket: str) -> Lease | Standing | None:
        """Takes the slot that was offered; `Standing` if only the place stands; `None` if there is none."""
        asked = self._clock.monotonic()
        reply = await self._link.call("accept", keys.pool(pool), self._replica, ticket)
        if reply[0] == "waiting":
            return Standing(0)
        return self._lease(pool, str(reply[1]), reply[2:], asked) if reply[0] == "leased" else None

    async def decline(self, pool: str, ticket: str) -> None:
        """Hands an offered slot back, on which nothing was sent; nothing happens if there is none."""
        lease = await self.accept(pool, ticket)
        if isinstance(lease, Lease):
            await self.release(lease, "yes")

    async def leave_if_unoffered(self, pool: str, ticket: str) -> str:
        """`left` (and only that permits to go elsewhere), `offered`, or `gone`.

        Repeat it if the reply is lost.
        """
        return str((await self._link.call("leave", keys.pool(pool), ticket))[0])

    async def release(self, lease: Lease, ended: str) -> None:
        """Ends a lease; `ended` is `yes`, or `unknown` for work that may run on (a ghost keeps the slot)."""
        await self._link.call("release", keys.pool(lease.pool), lease.id, ended)

    async def forget(self, pool: str, lease_id: str) -> None:
        """Ends a lease whose grant was never seen: nothing was sent, and a late grant of it is refused."""
        await self._link.call("release", keys.pool(pool), lease_id, "yes")

    async def renew(self, pool: str, leases: Sequence[str]) -> set[str]:
        """Renews in chunks; returns the leases that are lost."""
        lost: set[str] = set()
        for start in range(0, len(leases), RENEW_CHUNK):
            chunk = leases[start : start + RENEW_CHUNK]
            replies = await self._link.call("renew", keys.pool(pool), self._replica, *chunk)
            lost.update(lease for lease, reply in zip(chunk, replies, strict=True) if reply != "ok")
        return lost

    async def tend(self, pool: str, revision: int) -> Tended:
        """This replica's heartbeat in one pool."""
        asked = self._clock.monotonic()
        reply = await self._link.call("tend", keys.pool(pool), self._replica, revision)
        self._clock.heard(int(reply[1]) / 1000, asked, self._clock.monotonic())
        offered = tuple(part for part in str(reply[2]).split("|") if part)
        return Tended(int(reply[0]), offered, None if reply[3] == "=" else _closing(str(reply[3])))

    async def occupancy(self, pool: str, nodes: Sequence[str], claim: str = "") -> Occupancy:
        """Leases, offers and ghosts on some nodes, and how many of them `claim` has not closed here."""
        counts = await self._link.call("occupancy", keys.pool(pool), claim, *nodes)
        return Occupancy(*(int(count) for count in counts))

    def _lease(self, pool: str, lease_id: str, fields: Sequence[Any], asked: float) -> Lease:
        worker, url, node, fence = fields
        return Lease(lease_id, pool, worker, url, node, int(fence), asked + self._send_window_s)


class StoreSchema(Exception):
    """The store's data belongs to another version; refuse to start."""


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def _closing(text: str) -> dict[str, ClosingNode]:
    if not text:
        return {}
    return {name: closing_node(record) for name, record in json.loads(text).items() if record.get("claims")}


def closing_node(record: Mapping[str, Any]) -> ClosingNode:
    """The times of a claimed node, from its record: the earliest claim rules."""
    claims = record["claims"].values()
    closes = min(claim["closes"] for claim in claims) / 1000
    return ClosingNode(closes, min(claim["cut"] for claim in claims) / 1000, int(record["epoch"]))
