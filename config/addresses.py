"""Do the addresses of a deployment have the form of an address? Pure; nothing is connected."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from config.problems import Finding, Path
from config.schema import Config

REDIS_FORMS = ("redis://", "rediss://", "unix://")


def malformed(config: Config) -> Iterator[Finding]:
    """Addresses that cannot be one."""
    url = config.redis.url
    if url != "embedded" and not url.startswith(REDIS_FORMS):
        yield Finding(
            ("redis", "url"), "is no address of Redis", f"one of: embedded, {', '.join(REDIS_FORMS)}"
        )
    for name, pool in config.pools.items():
        if pool.place == "external":
            yield from _port(("pools", name, "url"), pool.url)
        else:
            for index, worker in enumerate(pool.workers):
                yield from _port(("pools", name, "workers", index, "url"), worker.url)


def _port(path: Path, url: str) -> Iterator[Finding]:
    try:
        parts = urlsplit(url)
        fine = bool(parts.hostname) and (parts.port is None or 0 < parts.port <= 65_535)
    except ValueError:
        fine = False
    if not fine:
        yield Finding(path, "has no host, or a port that is none (1 to 65535)")
