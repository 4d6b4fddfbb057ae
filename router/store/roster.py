"""Workers as records in their pool: what the sources say, and what the probes found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from router.store import keys
from router.store.link import Link


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """An on-prem server process, as its source describes it."""

    id: str
    pool: str
    node: str
    url: str
    slots: int
    lanes: tuple[str, ...]
    source: str = "config"


class Roster:
    """The workers of all pools."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def put(self, worker: WorkerRecord) -> str:
        """Writes a record; what the probes found is kept. Returns `new`, `changed`, `same` or `busy`.

        `busy`: it has another address now, and something may still run at the old one: the old record drains.
        """
        return str(
            await self._link.call(
                "worker_put",
                keys.pool(worker.pool),
                worker.id,
                worker.node,
                worker.url,
                worker.slots,
                "|".join(worker.lanes),
                0,
                worker.source,
            )
        )

    async def drop(self, pool: str, worker: str) -> str:
        """Removes a worker once nothing runs on it: `dropped`, `draining` or `unknown`."""
        return str(await self._link.call("worker_drop", keys.pool(pool), worker))

    async def seen(
        self,
        pool: str,
        worker: str,
        *,
        up: bool | None,
        idle_since: float | None,
        boot: str | None,
        reports_idle: bool = False,
        url: str = "",
    ) -> int:
        """What a probe of `url` found. `up`: `None` leaves the worker as it is.

        `idle_since` (store time): abandoned work older than that has ended.

        `reports_idle`: the worker can tell; then one that this store never knew takes work only once it has
        been idle, since the store may have lost what runs there. Returns how many ghosts ended.
        """
        proof = int(idle_since * 1000) if idle_since is not None else 0
        verdict = "" if up is None else int(up)
        reply = await self._link.call(
            "worker_seen", keys.pool(pool), worker, verdict, proof, boot or "", int(reports_idle), url
        )
        return int(reply[0])

    async def known(self, pool: str) -> Mapping[str, str]:
        """The workers that the store has for a pool: their addresses by their ids."""
        _, workers, *_ = keys.pool(pool)
        reply = await self._link.command("HGETALL", workers)
        rows = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
        return {str(name): str(json.loads(text)["url"]) for name, text in rows}
