"""A configuration as it may be shown: plain data in which no secret stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from config.loading import Loaded, Origin
from config.problems import Path
from config.schema import Config

MASK = "**********"

_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
_SECRET_NAME = re.compile(
    r"(?i)secret|token|password|passwd|credential|authori[sz]ation|(^|[_-])(api)?key($|[_-])"
)


def shown(loaded: Loaded) -> dict[str, Any]:
    """The whole configuration, JSON-safe, secrets masked."""
    return masked(loaded.config, loaded.origins)


def masked(config: Config, origins: Mapping[Path, Origin]) -> dict[str, Any]:
    """`config` as plain data. Masked is what the schema calls a secret, what came out of a secret file, what
    a dialect's settings name like one, and the user part of an address."""
    data: dict[str, Any] = config.model_dump(mode="json")
    return {name: _masked(value, (name,), origins) for name, value in data.items()}


def _masked(value: Any, path: Path, origins: Mapping[Path, Origin]) -> Any:
    if isinstance(value, dict):
        return {name: _masked(inner, (*path, name), origins) for name, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, (*path, index), origins) for index, inner in enumerate(value)]
    if _is_secret(path, origins):
        return MASK
    return _USER_INFO.sub(f"{MASK}@", value) if isinstance(value, str) else value


def _is_secret(path: Path, origins: Mapping[Path, Origin]) -> bool:
    if path in origins and "secret" in origins[path].sources:
        return True
    inner = path[path.index("settings") + 1 :] if "settings" in path else ()
    return any(isinstance(part, str) and _SECRET_NAME.search(part) for part in inner)
