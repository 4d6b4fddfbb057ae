"""`/admin/claims`: training takes nodes, and gives them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from router.api.doors import Door, actor
from router.api.refusals import Refusal
from router.fleet.claims import Claims
from router.model.claim import ENDED, Claim

Span = Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)]
Word = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]


class ClaimOrder(BaseModel):
    """All of `nodes`, or none: nothing starts there after `notice_s`, and nothing goes on `grace_s` later."""

    model_config = ConfigDict(extra="forbid")

    nodes: Annotated[list[Word], Field(min_length=1, max_length=1024)]
    owner: Word
    reason: Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f\x7f]+$")]
    notice_s: Span = 0.0
    grace_s: Span = 60.0
    ttl_s: Annotated[float, Field(gt=0, le=2_592_000, allow_inf_nan=False)] = 14_400.0


@dataclass(frozen=True, slots=True)
class ClaimList:
    """Claims by the time they were asked for."""

    claims: list[Claim]


class ClaimPaths:
    """The paths."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    def router(self, door: Door) -> APIRouter:
        """Everything here changes capacity, so all of it wants the scope `admin`."""
        router = APIRouter(prefix="/admin/claims", tags=["claims"], dependencies=[Depends(door)])
        router.add_api_route("", self.open, methods=["POST"], status_code=201, summary="Claim nodes")
        router.add_api_route("", self.all, methods=["GET"], summary="List claims")
        router.add_api_route("/{claim_id}", self.one, methods=["GET"], summary="One claim")
        router.add_api_route("/{claim_id}", self.release, methods=["DELETE"], summary="Release a claim")
        return router

    async def open(self, order: ClaimOrder, request: Request) -> Claim:
        """Answers once every pool concerned starts nothing more there than the notice allows."""
        return await self._claims.open(
            nodes=order.nodes,
            owner=order.owner,
            reason=order.reason,
            notice_s=order.notice_s,
            grace_s=order.grace_s,
            ttl_s=order.ttl_s,
            actor=actor(request),
        )

    async def all(
        self, ended: Annotated[bool, Query(alias="all", description="The latest ended ones, too.")] = False
    ) -> ClaimList:
        """Claims that are active; with `all=true` also the latest that have ended."""
        claims = await self._claims.all()
        return ClaimList([claim for claim in claims if ended or claim.phase not in ENDED])

    async def one(self, claim_id: str) -> Claim:
        """One claim, active or ended."""
        for claim in await self._claims.all():
            if claim.id == claim_id:
                return claim
        raise _unknown_claim()

    async def release(self, claim_id: str, request: Request) -> Claim:
        """Gives the nodes back. Releasing an ended claim changes nothing."""
        try:
            return await self._claims.release(claim_id, actor=actor(request))
        except KeyError:
            raise _unknown_claim() from None


def _unknown_claim() -> Refusal:
    return Refusal("not_found", "There is no such claim. See GET /admin/claims?all=true.", param="claim_id")
