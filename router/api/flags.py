"""`/admin/flags`: an operator's switches on nodes, pools, providers, models and the overflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from router.api.doors import Door, actor
from router.fleet.flags import Flags
from router.model.claim import Flag


class FlagOrder(BaseModel):
    """Switches something off. `expires_s` null: until it is cleared. `revision`: only if it still is that."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f\x7f]+$")]
    expires_s: Annotated[float, Field(gt=0, le=2_592_000, allow_inf_nan=False)] | None = 14_400.0
    revision: Annotated[int, Field(ge=0, lt=2**53)] | None = None


@dataclass(frozen=True, slots=True)
class FlagList:
    """Flags that stand."""

    flags: list[Flag]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What is switched on again."""

    cleared: str


class FlagPaths:
    """The paths."""

    def __init__(self, flags: Flags) -> None:
        self._flags = flags

    def router(self, door: Door) -> APIRouter:
        """Everything here changes capacity, so all of it wants the scope `admin`."""
        router = APIRouter(prefix="/admin/flags", tags=["flags"], dependencies=[Depends(door)])
        router.add_api_route("", self.all, methods=["GET"], summary="List flags")
        router.add_api_route("/{kind}/{name}", self.put, methods=["PUT"], summary="Switch something off")
        router.add_api_route("/{kind}/{name}", self.clear, methods=["DELETE"], summary="Switch it on again")
        return router

    async def all(self) -> FlagList:
        """All flags that stand."""
        return FlagList(await self._flags.all())

    async def put(self, kind: str, name: str, order: FlagOrder, request: Request) -> Flag:
        """Answers once every pool concerned gives the thing no new work."""
        return await self._flags.put(
            kind,
            name,
            reason=order.reason,
            actor=actor(request),
            expires_s=order.expires_s,
            revision=order.revision,
        )

    async def clear(self, kind: str, name: str, request: Request) -> Cleared:
        """Clearing a flag that does not stand changes nothing."""
        await self._flags.clear(kind, name, actor=actor(request))
        return Cleared(f"{kind}/{name}")
