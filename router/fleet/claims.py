"""Claims: opened and released by operators, moved on by the leader.

A claim is blocked in every pool that has workers on its nodes before it is written down; if one pool cannot
be reached, the others are unblocked and nothing was claimed. Blocks without a claim are taken off by the
leader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from router.model.claim import ENDED, Claim, Occupancy, Phase
from router.policy import claims as machine
from router.store.capacity import Capacity
from router.store.clock import StoreClock
from router.store.control import Conflict, Control
from router.store.link import StoreDown
from router.telemetry.events import ClaimMoved, Record

CAS_TRIES = 8


class UnknownNodes(Exception):
    """Some names are no nodes of this deployment."""

    def __init__(self, names: tuple[str, ...], known: tuple[str, ...]) -> None:
        super().__init__(f"unknown nodes: {', '.join(names)}")
        self.names = names
        self.known = known


class ClaimConflict(Exception):
    """The same owner holds some of these nodes already."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(f"{claim.owner} holds some of these nodes by {claim.id}")
        self.claim = claim


class Claims:
    """`nodes` says which pools have workers on a node."""

    def __init__(
        self,
        control: Control,
        capacity: Capacity,
        clock: StoreClock,
        nodes: Mapping[str, tuple[str, ...]],
        new_id: Callable[[], str],
        record: Record,
    ) -> None:
        self._control = control
        self._capacity = capacity
        self._clock = clock
        self._nodes = nodes
        self._new_id = new_id
        self._record = record

    async def all(self) -> list[Claim]:
        """Active claims and the latest ended ones, by the time they were asked for."""
        return await self._control.claims()

    async def open(
        self,
        *,
        nodes: Sequence[str],
        owner: str,
        reason: str,
        notice_s: float,
        grace_s: float,
        ttl_s: float,
        actor: str,
    ) -> Claim:
        """Claims all of `nodes`. When this returns, nobody starts anything there that outlasts the notice.

        Raises `UnknownNodes`, `ClaimConflict` (the same owner, twice), or `StoreDown` (nothing is claimed).
        """
        gang = tuple(dict.fromkeys(nodes))
        unknown = tuple(node for node in gang if node not in self._nodes)
        if unknown or not gang:
            raise UnknownNodes(unknown, tuple(self._nodes))
        for claim in await self._control.claims():
            if claim.owner == owner and claim.phase not in ENDED and set(claim.nodes) & set(gang):
                raise ClaimConflict(claim)
        now = self._clock.now()
        claim = Claim(
            revision=0,
            id=self._new_id(),
            nodes=gang,
            owner=owner,
            reason=reason,
            actor=actor,
            phase=Phase.REQUESTED if notice_s > 0 else Phase.DRAINING,
            requested_at=now,
            drain_at=now + notice_s,
            cut_at=now + notice_s + grace_s,
            expires_at=now + ttl_s,
            notice_s=notice_s,
            grace_s=grace_s,
            ttl_s=ttl_s,
        )
        return await self._blocked_then_written(claim, actor)

    async def release(self, claim_id: str, *, actor: str) -> Claim:
        """Gives the nodes back; work is placed there at once. Raises `KeyError` for an unknown claim."""
        for _ in range(CAS_TRIES):
            claim = await self._control.claim(claim_id)
            if claim is None:
                raise KeyError(claim_id)
            if claim.phase in ENDED:
                return claim
            try:
                releasing = await self._write(claim, machine.release(claim, self._clock.now()), actor)
                return await self._unblocked(releasing, actor)
            except Conflict:
                continue  # the leader moved it on meanwhile: look again
        raise StoreDown("the claim changed on every try")

    async def advance_all(self, actor: str) -> list[Claim]:
        """The leader's step: moves every claim on as far as the fleet allows. Returns all claims."""
        claims = await self._control.claims()
        moved = []
        for claim in claims:
            try:
                moved.append(await self._advanced(claim, actor))
            except Conflict:
                moved.append(claim)
        return moved

    async def _advanced(self, claim: Claim, actor: str) -> Claim:
        if claim.phase in ENDED:
            return claim
        if claim.phase is Phase.RELEASING:
            return await self._unblocked(claim, actor)
        after = machine.advance(claim, await self._occupancy(claim), self._clock.now())
        return claim if after is claim else await self._write(claim, after, actor)

    async def _occupancy(self, claim: Claim) -> Occupancy:
        counts = [await self._capacity.occupancy(pool, nodes) for pool, nodes in self._by_pool(claim)]
        return (
            Occupancy(*(sum(column) for column in zip(*counts, strict=True)))
            if counts
            else Occupancy(0, 0, 0)
        )

    async def _blocked_then_written(self, claim: Claim, actor: str) -> Claim:
        try:
            await self.block(claim)
            written = await self._control.put_claim(claim, action="claim_opened", actor=actor)
        except StoreDown:
            await self._undo(claim)
            raise
        self._tell(written, 0.0)
        return written

    async def block(self, claim: Claim) -> None:
        """Puts a claim's block on every pool concerned; repeating it is harmless but for the epoch."""
        for pool, nodes in self._by_pool(claim):
            await self._control.block(pool, claim.id, nodes, claim.drain_at, claim.cut_at)

    async def _undo(self, claim: Claim) -> None:
        try:
            for pool, nodes in self._by_pool(claim):
                await self._control.unblock(pool, claim.id, nodes)
        except StoreDown:
            return  # the leader finds blocks without a claim and takes them off

    async def _unblocked(self, claim: Claim, actor: str) -> Claim:
        for pool, nodes in self._by_pool(claim):
            await self._control.unblock(pool, claim.id, nodes)
        return await self._write(claim, machine.ended(claim), actor)

    async def _write(self, before: Claim, after: Claim, actor: str) -> Claim:
        if after is before:
            return before
        action = f"claim_{after.phase}" if after.phase is not before.phase else "claim_alarm"
        written = await self._control.put_claim(
            replace(after, revision=before.revision), action=action, actor=actor
        )
        if written.phase is not before.phase:
            self._tell(written, self._clock.now() - _since(before))
        return written

    def _by_pool(self, claim: Claim) -> list[tuple[str, tuple[str, ...]]]:
        pools = {pool for node in claim.nodes for pool in self._nodes.get(node, ())}
        return [
            (pool, tuple(node for node in claim.nodes if pool in self._nodes.get(node, ())))
            for pool in sorted(pools)
        ]

    def _tell(self, claim: Claim, seconds: float) -> None:
        self._record(ClaimMoved(claim.id, claim.owner, claim.phase, len(claim.nodes), seconds))


def _since(claim: Claim) -> float:
    """When the phase that the claim is in began."""
    if claim.phase is Phase.HELD and claim.held_at is not None:
        return claim.held_at
    return claim.drain_at if claim.phase is Phase.DRAINING else claim.requested_at
