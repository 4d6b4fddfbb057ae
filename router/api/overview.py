"""`/admin/state` and `/admin/audit`: how things are, and who changed them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from router.api.documents import State
from router.api.doors import Door
from router.api.gate import Gate
from router.api.state import state_of


@dataclass(frozen=True, slots=True)
class Audit:
    """Changes of claims and flags, newest first."""

    entries: list[dict[str, Any]]


class OverviewPaths:
    """The paths."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def router(self, door: Door) -> APIRouter:
        """Names of nodes and owners are nobody else's business."""
        router = APIRouter(prefix="/admin", tags=["overview"], dependencies=[Depends(door)])
        router.add_api_route("/state", self.state, methods=["GET"], summary="The whole deployment")
        router.add_api_route("/audit", self.audit, methods=["GET"], summary="Who changed what")
        return router

    async def state(self) -> State:
        """One document."""
        return await state_of(self._gate)

    async def audit(self, count: Annotated[int, Query(ge=1, le=1000)] = 100) -> Audit:
        """The latest changes."""
        return Audit(await self._gate.control.audit(count))
