"""Claims: opened and released by operators, moved on by the leader.

A claim is blocked in every pool before it is written down, also where this config has no workers on its
nodes: another replica's may. If one pool cannot be reached, the others are unblocked and nothing was claimed.
The leader takes blocks without a claim off, and blocks a claim that lacks them again before it is held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace

from router.model.claim import ENDED, Claim, Occupancy, Phase
from router.policy import claims as machine
from router.store.capacity import Capacity
from router.store.clock import StoreClock
from router.store.control import Conflict, Control, claim_of
from router.store.link import StoreCold, StoreDown
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
    """`nodes`: those of this deployment, and which pools have workers on them."""

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
        self._pools = frozenset(pool for pools in nodes.values() for pool in pools)
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

        Raises `UnknownNodes`, `ClaimConflict` (the same owner, twice), or `StoreDown`: nothing is claimed, if
        the store can still be asked; else the list of claims says it later.
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
            pools=tuple(sorted(self._pools)),
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
            except (Conflict, StoreCold):  # a pool that is gone holds up its own claims only
                moved.append(claim)
        return moved

    async def _advanced(self, claim: Claim, actor: str) -> Claim:
        if claim.phase in ENDED:
            return claim
        if claim.phase is Phase.RELEASING:
            return await self._unblocked(claim, actor)
        occupancy = await self._occupancy(claim)
        after = machine.advance(claim, occupancy, self._clock.now())
        written = await self._write(claim, after, actor)
        drains = written.phase is Phase.DRAINING and claim.phase is Phase.REQUESTED
        if drains or (occupancy.unblocked and written.phase is not Phase.REQUESTED):
            await self.block_again(written)
        return written

    async def _occupancy(self, claim: Claim) -> Occupancy:
        total = Occupancy(0, 0, 0)
        for pool in self._concerned(claim):
            there = astuple(await self._capacity.occupancy(pool, claim.nodes, claim.id))
            total = Occupancy(*(one + more for one, more in zip(astuple(total), there, strict=True)))
        return total

    async def _blocked_then_written(self, claim: Claim, actor: str) -> Claim:
        try:
            await self._block(claim)
        except StoreDown:
            await self._undo(claim)
            raise
        written = await self._opened(claim, actor)
        self._tell(written, 0.0)
        return written

    async def _opened(self, claim: Claim, actor: str) -> Claim:
        try:
            return await self._control.put_claim(claim, action="claim_opened", actor=actor)
        except Conflict as other:
            await self._undo(claim)
            if other.standing is None:
                raise
            raise ClaimConflict(claim_of(other.standing)) from other
        except StoreDown:
            # Without an answer here either, the blocks stay: the claim may have been written.
            written = await self._control.claim(claim.id)
            if written is None:
                await self._undo(claim)
                raise
            return written

    async def block_again(self, claim: Claim) -> None:
        """Puts the blocks of a claim on where they are lost, unless it is given back meanwhile."""
        if await self._is_active(claim):
            await self._block(claim)
            if not await self._is_active(claim):
                await self._undo(claim)

    async def _is_active(self, claim: Claim) -> bool:
        now = await self._control.claim(claim.id)
        return now is not None and now.phase not in ENDED and now.phase is not Phase.RELEASING

    async def _block(self, claim: Claim) -> None:
        notice_s = min(claim.notice_s, self._clock.until(claim.drain_at))
        closes_in_s = notice_s if claim.phase is Phase.REQUESTED else 0.0
        cut_in_s = min(claim.notice_s + claim.grace_s, self._clock.until(claim.cut_at))
        for pool in self._concerned(claim):
            await self._control.block(pool, claim.id, claim.nodes, closes_in_s, cut_in_s)

    async def _undo(self, claim: Claim) -> None:
        try:
            await self._unblock(claim)
        except StoreDown:
            return  # the leader finds blocks without a claim and takes them off

    async def _unblock(self, claim: Claim) -> None:
        for pool in self._concerned(claim):
            await self._control.unblock(pool, claim.id, claim.nodes)

    async def _unblocked(self, claim: Claim, actor: str) -> Claim:
        await self._unblock(claim)
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

    def _concerned(self, claim: Claim) -> list[str]:
        return sorted(self._pools | set(claim.pools))

    def _tell(self, claim: Claim, seconds: float) -> None:
        self._record(ClaimMoved(claim.id, claim.owner, claim.phase, len(claim.nodes), seconds))


def _since(claim: Claim) -> float:
    """When the phase that the claim is in began."""
    if claim.phase is Phase.HELD and claim.held_at is not None:
        return claim.held_at
    return claim.drain_at if claim.phase is Phase.DRAINING else claim.requested_at
