"""Moves claims and flags on, and mends their copies in the pools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from router.fleet.claims import Claims
from router.fleet.flags import Flags
from router.model.claim import ENDED, Claim
from router.store.control import Control
from router.store.link import StoreDown

EVERY_S = 0.25
MEND_S = 1.0
ORPHAN_S = 5.0
"""A block without a claim is somebody opening one right now, unless it is still there after this."""

Blocks = Callable[[], Mapping[str, Mapping[str, frozenset[str]]]]
"""For each pool: the claims that block its nodes (node -> claim ids), as this replica last saw them."""


@dataclass(slots=True)
class Steering:
    """The leader's care for claims and flags."""

    claims: Claims
    flags: Flags
    control: Control
    blocks: Blocks
    monotonic: Callable[[], float]
    actor: str
    _orphans: dict[tuple[str, str], float] = field(default_factory=dict)

    async def steer_forever(self) -> None:
        """Claims move within a quarter of a second; copies are mended once a second."""
        mended = float("-inf")
        while True:
            try:
                claims = await self.claims.advance_all(self.actor)
                if self.monotonic() - mended >= MEND_S:
                    await self.mend(claims)
                    mended = self.monotonic()
            except StoreDown:
                pass  # nothing is held or released meanwhile; asked again below
            await asyncio.sleep(EVERY_S)

    async def mend(self, claims: list[Claim]) -> None:
        """Puts lost blocks on again, takes blocks without a claim off, sweeps flags, forgets old claims."""
        active = {claim.id: claim for claim in claims if claim.phase not in ENDED}
        blocks = self.blocks()
        for claim in active.values():
            if _lost(claim, blocks):
                await self.claims.block_again(claim)
        await self._take_off_orphans(blocks, frozenset(active))
        await self.flags.sweep(self.actor)
        await self.control.forget_ended(claims)

    async def _take_off_orphans(
        self, blocks: Mapping[str, Mapping[str, frozenset[str]]], active: frozenset[str]
    ) -> None:
        found = {
            (pool, claim): node
            for pool, nodes in blocks.items()
            for node, ids in nodes.items()
            for claim in ids - active
        }
        now = self.monotonic()
        self._orphans = {key: self._orphans.get(key, now) for key in found}
        for (pool, claim), since in self._orphans.items():
            if now - since >= ORPHAN_S:
                nodes = tuple(node for node, ids in blocks[pool].items() if claim in ids)
                await self.control.unblock(pool, claim, nodes)


def _lost(claim: Claim, blocks: Mapping[str, Mapping[str, frozenset[str]]]) -> bool:
    """Is there a pool where a node of the claim does not carry it?"""
    return any(claim.id not in nodes.get(node, ()) for nodes in blocks.values() for node in claim.nodes)
