"""The claim machine: what the leader does next with one claim."""

from __future__ import annotations

from dataclasses import replace

from router.model.claim import ENDED, Claim, Occupancy, Phase

STUCK_AFTER_S = 30.0
"""A claim that is not held this long after its grace is alarmed: somebody has to look at the node."""


def advance(claim: Claim, occupancy: Occupancy, now: float) -> Claim:
    """The claim as it stands at `now`; the same object if nothing changed.

    Time alone never makes a claim `held`, and never releases one: `held` needs every node clear, and an
    expired claim is only marked overdue, since a node wrongly freed hurts training.
    """
    return _overdue(_stuck(_moved(claim, occupancy, now), occupancy, now), now)


def release(claim: Claim, now: float) -> Claim:
    """The claim's owner gives the nodes back: the step before its blocks are taken off the pools."""
    if claim.phase in ENDED or claim.phase is Phase.RELEASING:
        return claim
    return replace(claim, phase=Phase.RELEASING, released_at=now)


def ended(claim: Claim) -> Claim:
    """All blocks are off: `released` if it was ever held, else `cancelled`."""
    return replace(claim, phase=Phase.CANCELLED if claim.held_at is None else Phase.RELEASED, alarm="")


def _moved(claim: Claim, occupancy: Occupancy, now: float) -> Claim:
    if claim.phase is Phase.REQUESTED and now >= claim.drain_at:
        return replace(claim, phase=Phase.DRAINING)
    if claim.phase is Phase.DRAINING and occupancy.clear:
        return replace(claim, phase=Phase.HELD, held_at=now, alarm="")
    return claim


def _stuck(claim: Claim, occupancy: Occupancy, now: float) -> Claim:
    if claim.phase is not Phase.DRAINING or claim.alarm or now < claim.cut_at + STUCK_AFTER_S:
        return claim
    held = f"{occupancy.leased} leased, {occupancy.offered} offered, {occupancy.ghosts} abandoned"
    if occupancy.unblocked:
        held = f"{held}, {occupancy.unblocked} not closed"
    return replace(claim, alarm=f"not clear: {held}")


def _overdue(claim: Claim, now: float) -> Claim:
    if claim.overdue or claim.phase in ENDED or now < claim.expires_at:
        return claim
    return replace(claim, overdue=True)
