"""The configuration of a whole deployment as a file, with promises short enough for a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from config.keys import Presented, create
from loadtests.emulators import Speed

HOUSE = create(b"house-key-one-" + bytes(30))
PRIVATE = create(b"private-key-2-" + bytes(30))
ADMIN = create(b"admin-key-thre" + bytes(30))
METRICS = create(b"metrics-key-4-" + bytes(30))

MODEL = "krea-2-turbo"
LEASE_S = 2.0
LEADER_S = 1.0


def bearer(key: Presented) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.text}"}


def _key(key: Presented, tenant: str, *scopes: str) -> dict[str, Any]:
    return {"id": key.id, "secret_sha256": key.secret_sha256, "tenant": tenant, "scopes": list(scopes)}


def document(
    redis_url: str,
    workers: Sequence[str],
    fal_url: str,
    fal_key: Path,
    speed: Speed,
    slots: int = 1,
    server: str = "sglang",
) -> dict[str, Any]:
    """Two workers a node, as fast as `speed` says. `private` sends nothing out of the house."""
    per_step_mp_s = max(speed.per_step_mp_s, 0.001)
    return {
        "redis": {"url": redis_url},
        "gateway": {"port": 0, "drain_grace_s": 0.5, "drain_limit_s": 8.0},
        "telemetry": {"sample_ratio": 1.0},
        "leases": {
            "lease_s": LEASE_S,
            "renew_s": 0.5,
            "offer_s": 1.0,
            "send_window_s": 1.0,
            "tend_s": 0.2,
            "silent_s": 1.5,
            "probe_s": 0.3,
            "leader_s": LEADER_S,
        },
        "classes": {"standard": {"deadline_s": 30}},
        "tenants": {"house": {}, "private": {"external": False}},
        "keys": [
            _key(HOUSE, "house", "generate"),
            _key(PRIVATE, "private", "generate"),
            _key(ADMIN, "house", "admin"),
            _key(METRICS, "house", "metrics"),
        ],
        "nodes": {f"node-{i // 2 + 1}": {} for i in range(len(workers))},
        "default_model": MODEL,
        "models": {
            MODEL: {
                "home": "onprem",
                "size": "64x64",
                "steps": 8,
                "profile": {"fixed_s": speed.fixed_s, "per_step_mp_s": per_step_mp_s, "spread": 0.2},
            }
        },
        "pools": {
            "onprem": {
                "place": "onprem",
                "dialect": "openai_images",
                "settings": {"server": server},
                "models": {MODEL: MODEL},
                "workers": [
                    {"id": f"w{i}", "node": f"node-{i // 2 + 1}", "url": url, "slots": slots}
                    for i, url in enumerate(workers)
                ],
            },
            "fal": {
                "place": "external",
                "dialect": "fal",
                "url": fal_url,
                "credential": f"${{file:{fal_key}}}",
                "models": {
                    MODEL: {
                        "target": "fal-ai/krea-2/turbo",
                        "prices": [{"per_image_usd": "0.03", "valid_from": "2026-01-01"}],
                        "latency_s": 0.5,
                    }
                },
                "concurrency": 8,
                "daily_budget_usd": 50,
            },
        },
        "overflow": ["fal"],
    }


def written(path: Path, content: dict[str, Any], **changes: Any) -> Path:
    """The file, with `a__b=value` put at `a.b`. JSON is YAML."""
    for place, value in changes.items():
        *parents, last = place.split("__")
        block = content
        for part in parents:
            block = block.setdefault(part, {})
        block[last] = value
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path
