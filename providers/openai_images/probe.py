"""A worker's own word about itself: would it take a request, and has its work ended?

- SGLang-Diffusion: `/health` says ready (503 until warm). `/stats` goes through the scheduler, a single FIFO
  (0.5.23 scheduler.py), so it is a barrier: once answered, all work received before it has ended. It is asked
  after `/health` answered 200, because requests that come during the warm-up are held outside that FIFO.
- vLLM-Omni: `/metrics` counts the requests running and waiting.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from providers.contract import Failed, Fault, Health
from providers.http import Http, Reply, Request
from providers.openai_images.settings import Settings
from providers.openai_images.wire import authorization

REQUESTS = re.compile(
    rb"^[a-z_:]*num_requests_(?:running|waiting)(?:\{[^}\n]*\})? +([0-9.eE+-]+)", re.MULTILINE
)


async def probe(
    http: Http,
    base_url: str,
    settings: Settings,
    credential: str | None,
    patience_s: float,
    clock: Callable[[], float],
) -> Health:
    """Ask; the answer comes within `patience_s`, with what is known by then."""
    until = clock() + patience_s

    async def get(path: str) -> Reply | Failed:
        headers = authorization(credential)
        return await http.send(Request("GET", base_url + path, max(until - clock(), 0.001), headers))

    health = await get(settings.health)
    if isinstance(health, Failed):
        return Health(reachable=health.fault is not Fault.NOT_SENT, ready=False, detail=health.code)
    if health.status != 200:
        return Health(reachable=True, ready=False, detail=f"HTTP {health.status}")
    match settings.server:
        case "sglang":
            return Health(reachable=True, ready=True, idle=_after_barrier(await get("/stats")))
        case "vllm_omni":
            return Health(reachable=True, ready=True, idle=_without_requests(await get("/metrics")))
        case "openai":
            return Health(reachable=True, ready=True)


def _after_barrier(stats: Reply | Failed) -> bool | None:
    """Unanswered in time: busy. Anything else (404 of an older server, connection lost): it did not say."""
    if isinstance(stats, Failed):
        return False if stats.code in ("deadline", "stalled") else None
    return True if stats.status == 200 else None


def _without_requests(metrics: Reply | Failed) -> bool | None:
    if isinstance(metrics, Failed) or metrics.status != 200:
        return None
    try:
        counts = [float(count) for count in REQUESTS.findall(metrics.body)]
    except ValueError:
        return None
    return not any(counts) if counts else None
