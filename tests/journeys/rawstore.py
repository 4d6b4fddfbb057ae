"""The store's bare contents, read key by key as no part of the router reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import redis

POOL = "spill:v1:{pool:onprem}:"
LEADER = "spill:v1:{ctl}:leader"


def dump(url: str) -> dict[str, Any]:
    """Every key with its value."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        return {key: _value(client, key) for key in sorted(client.scan_iter(count=1000))}


def leases(url: str, pool: str = POOL) -> dict[str, dict[str, Any]]:
    """Every slot that is taken, whatever its state: `leased`, `offered` or `ghost`."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        found: dict[str, str] = client.hgetall(pool + "leases")
        return {name: json.loads(text) for name, text in found.items()}


def leader(url: str) -> str | None:
    """The replica that runs the control loops."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        found = client.get(LEADER)
        return found if isinstance(found, str) else None


def waiting(url: str) -> int:
    """Places in the queue."""
    with redis.Redis.from_url(url) as client:
        return int(client.zcard(POOL + "queue"))


def paid_attempts(url: str) -> int:
    """Holds of attempts in flight."""
    with redis.Redis.from_url(url) as client:
        return int(client.hlen("spill:v1:{money}:intents"))


def strings(value: Any) -> Iterator[str]:
    """Every text in a dump."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)
    else:
        yield str(value)


def _value(client: redis.Redis, key: str) -> Any:
    match client.type(key):
        case "hash":
            return client.hgetall(key)
        case "zset":
            return client.zrange(key, 0, -1, withscores=True)
        case "stream":
            return client.xrange(key)
        case "string":
            return client.get(key)
        case other:
            raise AssertionError(f"{key} is a {other}, which no key should be")
