"""The ASGI app of one replica. Start reading here."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, FastAPI
from starlette.types import ASGIApp

from router.api.catalogue import Catalogue
from router.api.claims import ClaimPaths
from router.api.doors import Door
from router.api.failures import handle
from router.api.flags import FlagPaths
from router.api.front import Front
from router.api.gate import Gate
from router.api.images import Images
from router.api.models import Models
from router.api.openapi import document
from router.api.overview import OverviewPaths
from router.api.probes import Probes
from router.api.tenants import Keyring


def build(gate: Gate) -> ASGIApp:
    """Images on their own ASGI callable; everything else on FastAPI."""
    keyring = Keyring(gate.config)
    return Front(Images(gate, keyring), described(gate, keyring), gate.config.limits)


def described(gate: Gate, keyring: Keyring) -> FastAPI:
    """What FastAPI serves. It makes no telemetry of its own: that is `router.telemetry`'s."""
    app = FastAPI(
        title="Spillover",
        summary="Inference router with external overflow",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        # A redirect would be built from the `Host` header, which anybody can write.
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    admin = Door(keyring, "admin")
    app.include_router(Probes(gate).router(keyring))
    app.include_router(Models(Catalogue(gate.config)).router(keyring))
    app.include_router(ClaimPaths(gate.claims).router(admin))
    app.include_router(FlagPaths(gate.flags).router(admin))
    app.include_router(OverviewPaths(gate).router(admin))

    async def openapi() -> dict[str, Any]:
        return document(app)

    app.add_api_route(
        "/openapi.json", openapi, dependencies=[Depends(Door(keyring))], include_in_schema=False
    )
    handle(app)
    return app
