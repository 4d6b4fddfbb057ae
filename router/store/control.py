"""Claims, flags, the audit stream and the leader's lease: their truth stands under the control tag.

Pools hold a copy of what concerns them; a change is answered only when every pool concerned has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from router.model.claim import ENDED, Claim, Flag, Phase
from router.store import keys
from router.store.clock import StoreClock
from router.store.link import Link

KEEP_ENDED = 200


class Conflict(Exception):
    """Somebody else changed the record first; `standing` is what it is now, `None` if it is gone."""

    def __init__(self, standing: dict[str, Any] | None) -> None:
        super().__init__("the record was changed by somebody else meanwhile")
        self.standing = standing


class Control:
    """The operators' side of the store."""

    def __init__(self, link: Link, clock: StoreClock) -> None:
        self._link = link
        self._clock = clock

    async def claims(self) -> list[Claim]:
        """All claims that are active, and the latest of those that ended."""
        rows = await self._link.command("HVALS", keys.control("claims"))
        return sorted((claim_of(json.loads(row)) for row in rows), key=lambda claim: claim.requested_at)

    async def claim(self, claim_id: str) -> Claim | None:
        """One claim, or `None`."""
        row = await self._link.command("HGET", keys.control("claims"), claim_id)
        return claim_of(json.loads(row)) if row else None

    async def put_claim(self, claim: Claim, *, action: str, actor: str) -> Claim:
        """Writes a claim by compare-and-set on its revision (0: it must be new). Raises `Conflict`.

        A new one conflicts, too, with an active claim of its owner that has one of its nodes.
        """
        return claim_of(
            await self._put("claims", claim.id, claim.revision, asdict(claim), action, actor, "apart")
        )

    async def flags(self) -> list[Flag]:
        """All flags that stand."""
        rows = await self._link.command("HVALS", keys.control("flags"))
        return sorted((_flag(json.loads(row)) for row in rows), key=lambda flag: flag.id)

    async def flag(self, flag_id: str) -> Flag | None:
        """One flag (`kind/name`), or `None`."""
        row = await self._link.command("HGET", keys.control("flags"), flag_id)
        return _flag(json.loads(row)) if row else None

    async def put_flag(self, flag: Flag, *, actor: str) -> Flag:
        """Sets a flag; revision -1 writes whatever stands. Raises `Conflict`."""
        return _flag(await self._put("flags", flag.id, flag.revision, asdict(flag), "flag_set", actor))

    async def drop_flag(
        self, flag_id: str, *, actor: str, action: str = "flag_cleared", revision: int | None = None
    ) -> None:
        """Removes a flag; nothing happens if there is none. Raises `Conflict` if it is not of `revision`."""
        expected = "*" if revision is None else str(revision)
        await self._write("flags", flag_id, expected, "", self._line(action, actor, {"id": flag_id}))

    async def switched_off(self, pools: Sequence[str]) -> frozenset[str]:
        """Ids of all flags that these pools and the accounts carry, whether they stand or not."""
        found = set()
        for pool in pools:
            names = dict(zip(keys.POOL, keys.pool(pool), strict=True))
            if await self._link.command("HGET", names["meta"], "closed") == "1":
                found.add(f"pool/{pool}")
            nodes = _fields(await self._link.command("HGETALL", names["nodes"]))
            found |= {f"node/{name}" for name, record in nodes.items() if json.loads(record).get("flag")}
        accounts = _fields(await self._link.command("HGETALL", keys.money("accounts")))
        switches = {
            field.removesuffix("|off"): value for field, value in accounts.items() if field.endswith("|off")
        }
        off = {name for name, value in switches.items() if value == "1"}
        found |= {"overflow/overflow" if name == "overflow" else f"provider/{name}" for name in off}
        return frozenset(found)

    async def forget_ended(self, claims: Sequence[Claim]) -> None:
        """Keeps the latest ended claims only."""
        ended = [claim for claim in claims if claim.phase in ENDED]
        for claim in ended[:-KEEP_ENDED]:
            await self._link.command("HDEL", keys.control("claims"), claim.id)

    async def audit(self, count: int) -> list[dict[str, Any]]:
        """The latest changes, newest first."""
        rows = await self._link.command("XREVRANGE", keys.control("audit"), "+", "-", "COUNT", count)
        return [{"id": entry, **json.loads(_fields(fields)["line"])} for entry, fields in rows or []]

    async def lead(self, replica: str, lease_s: float) -> bool:
        """Takes or keeps the leader's lease for this replica."""
        return int(await self._link.call("lead", [keys.control("leader")], replica, int(lease_s * 1000))) == 1

    async def block(
        self, pool: str, claim: str, nodes: Sequence[str], closes_in_s: float, cut_in_s: float
    ) -> None:
        """Puts a claim on nodes of one pool: nothing starts there after `closes_in_s`, or already earlier."""
        times = int(closes_in_s * 1000), int(cut_in_s * 1000)
        await self._link.call("node_block", keys.pool(pool), claim, *times, *nodes)

    async def unblock(self, pool: str, claim: str, nodes: Sequence[str]) -> None:
        """Takes a claim off nodes of one pool; repeating it changes nothing."""
        await self._link.call("node_unblock", keys.pool(pool), claim, *nodes)

    async def flag_node(self, pool: str, node: str, off: bool) -> None:
        """An operator's switch on a node, in one pool."""
        await self._link.call("node_flag", keys.pool(pool), node, int(off))

    async def flag_pool(self, pool: str, off: bool) -> None:
        """An operator's switch on a whole on-prem pool."""
        await self._link.call("pool_flag", keys.pool(pool), int(off))

    async def _put(
        self,
        kind: str,
        name: str,
        revision: int,
        record: dict[str, Any],
        action: str,
        actor: str,
        rule: str = "",
    ) -> dict[str, Any]:
        expected = "*" if revision < 0 else "" if revision == 0 else str(revision)
        text = json.dumps({**record, "revision": 0}, separators=(",", ":"))
        written = await self._write(kind, name, expected, text, self._line(action, actor, record), rule)
        return {**record, "revision": written}

    async def _write(self, kind: str, name: str, expected: str, text: str, line: str, rule: str = "") -> int:
        names = [keys.control(part) for part in (kind, "audit", "meta")]
        reply = await self._link.call("control_write", names, name, expected, text, line, rule)
        if reply[0] == "conflict":
            raise Conflict(json.loads(reply[1]) if reply[1] else None)
        return int(reply[1])

    def _line(self, action: str, actor: str, record: Mapping[str, Any]) -> str:
        line = {"at": round(self._clock.now(), 3), "action": action, "actor": actor, "record": record}
        return json.dumps(line, separators=(",", ":"))


def claim_of(record: Mapping[str, Any]) -> Claim:
    """A claim as its stored record says it."""
    known = _known(Claim, record)
    words = {name: tuple(record.get(name, ())) for name in ("nodes", "pools")}
    return Claim(**{**known, **words, "phase": Phase(record["phase"])})


def _flag(record: Mapping[str, Any]) -> Flag:
    return Flag(**_known(Flag, record))


def _known(kind: type[Claim] | type[Flag], record: Mapping[str, Any]) -> dict[str, Any]:
    """Without the fields that another version of this program wrote."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in record.items() if name in names}


def _fields(reply: Any) -> dict[str, str]:
    if isinstance(reply, dict):
        return reply
    return dict(zip(reply[::2], reply[1::2], strict=True))
