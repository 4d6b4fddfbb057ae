"""The operator's part of a replica's HTTP, as far as the demo needs it."""

from typing import Any

import aiohttp

from loadtests.demo.account import ClaimTimes
from loadtests.demo.figures import Sample

ADMIN_KEY = "spk_demoadmin000_public-demo-key-never-a-secret-for-admins-0"
"""Public: its hash stands in config/demo.yaml, which fits no production."""
PATIENCE = aiohttp.ClientTimeout(total=5.0)


class Refused(Exception):
    """The replica answered with an error."""


class Operators:
    """An operator's client of one replica."""

    def __init__(self, session: aiohttp.ClientSession, replica: str) -> None:
        self._session = session
        self._replica = replica

    async def finds(self, path: str) -> bool:
        """Is there a good answer at `path`? At `/readyz` it means that the replica takes traffic."""
        try:
            async with self._session.get(self._replica + path, timeout=PATIENCE) as reply:
                return reply.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def state(self) -> dict[str, Any]:
        return await self._ask("GET", "/admin/state")

    async def claim(self, nodes: tuple[str, ...], owner: str, reason: str, grace_s: float) -> dict[str, Any]:
        order = {"nodes": nodes, "owner": owner, "reason": reason, "notice_s": 0, "grace_s": grace_s}
        return await self._ask("POST", "/admin/claims", {**order, "ttl_s": 3600})

    async def look_at(self, claim_id: str) -> dict[str, Any]:
        return await self._ask("GET", f"/admin/claims/{claim_id}")

    async def release(self, claim_id: str) -> dict[str, Any]:
        return await self._ask("DELETE", f"/admin/claims/{claim_id}")

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {ADMIN_KEY}"}
        async with self._session.request(
            method, self._replica + path, json=body, headers=headers, timeout=PATIENCE
        ) as reply:
            if reply.status >= 400:
                raise Refused(f"{method} {path}: HTTP {reply.status}: {(await reply.text())[:300]}")
            document: dict[str, Any] = await reply.json()
            return document


def claim_times(claim: dict[str, Any]) -> ClaimTimes:
    """The moments in a claim's document."""
    return ClaimTimes(
        nodes=tuple(claim["nodes"]),
        requested_at=claim["requested_at"],
        drain_at=claim["drain_at"],
        cut_at=claim["cut_at"],
        grace_s=claim["grace_s"],
        held_at=claim["held_at"],
        released_at=claim["released_at"],
    )


def sample_of(state: dict[str, Any], at: float) -> Sample:
    """The few numbers of `/admin/state` that are shown."""
    slots = [pool["slots"] for pool in state["pools"]]
    leased, offered, ghosts, free, total = (
        sum(pool[name] for pool in slots) for name in ("leased", "offered", "ghost", "free", "total")
    )
    return Sample(
        at=at,
        waiting=state["waiting"],
        leased=leased,
        offered=offered,
        ghosts=ghosts,
        free=free,
        closed=max(0, total - leased - offered - ghosts - free),
        external_in_flight=sum(account["in_flight"] for account in state["accounts"]),
        phase=next((claim["phase"] for claim in state["claims"]), ""),
    )
