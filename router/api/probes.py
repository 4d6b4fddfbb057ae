"""For machines: `/livez` says that the process lives, `/readyz` that traffic may come, `/metrics` how much.

`/metrics` wants a key with the scope `metrics` or `admin`. It is open only where no key has the scope
`metrics` and the gateway listens on loopback alone, as on a developer's machine.
"""

from __future__ import annotations

import ipaddress

from fastapi import APIRouter, Depends
from starlette.responses import Response

from router.api.doors import Door
from router.api.gate import Gate
from router.api.refusals import Refusal
from router.api.tenants import Keyring


class Probes:
    """The three paths of one replica."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def router(self, keyring: Keyring) -> APIRouter:
        """Probes need no key: whoever supervises the process has none."""
        router = APIRouter(tags=["machines"])
        router.add_api_route("/livez", self.live, methods=["GET"], summary="Does the process live?")
        router.add_api_route("/readyz", self.ready, methods=["GET"], summary="May traffic come?")
        doors = [] if self._metrics_are_open(keyring) else [Depends(Door(keyring, "metrics", "admin"))]
        router.add_api_route(
            "/metrics", self.metrics, methods=["GET"], dependencies=doors, summary="Prometheus metrics"
        )
        return router

    async def live(self) -> dict[str, str]:
        """200 for as long as the process can answer: a lost store is no reason to restart it."""
        return {"status": "live"}

    async def ready(self) -> dict[str, bool]:
        """200, or 503 with `reasons`."""
        reasons = self._gate.why_not_ready()
        if reasons:
            message = f"This replica takes no new traffic: {', '.join(reasons)}."
            raise Refusal("not_ready", message, details={"ready": False, "reasons": list(reasons)})
        return {"ready": True}

    async def metrics(self) -> Response:
        """Prometheus' text."""
        text, content_type = self._gate.prometheus()
        return Response(text, headers={"content-type": content_type})

    def _metrics_are_open(self, keyring: Keyring) -> bool:
        return not keyring.any_with("metrics") and _is_loopback(self._gate.config.gateway.host)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
