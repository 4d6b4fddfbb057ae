"""One key of the configuration explained: what it is for, what it may be, what it is now, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import PydanticUndefined

from config.loading import Loaded
from config.masking import shown
from config.outline import Spot, inside, locate
from config.problems import Path, did_you_mean, read, written

Origin = Literal["file", "env", "secret file", "default", ""]


@dataclass(frozen=True, slots=True)
class Explanation:
    """`value` and `default` are JSON texts, empty where there is none; `keys` are those of a block."""

    path: str
    doc: str
    type: str
    default: str
    value: str = ""
    source: Origin = ""
    line: int = 0
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """The schema has no such key."""

    path: str
    hint: str


def explain(key: str, loaded: Loaded | None) -> Explanation | Unknown:
    """The key written as `pools.fal.concurrency`; without a loaded file only what the schema says."""
    path = read(key)
    if path is None:
        return Unknown(key, "write it as in `pools.fal.models.krea-2-turbo.prices[0]`")
    data = shown(loaded) if loaded else None
    for depth in range(1, len(path) + 1):
        if not _exists(path[:depth], data):
            known = _known(path[: depth - 1], data)
            return Unknown(key, did_you_mean(path[depth - 1], known) or _listed(known))
    spot = locate(path, data)
    assert spot is not None
    value = _member(path, data)
    source, line = _source(path, loaded)
    return Explanation(
        path=written(path),
        doc=_doc(spot),
        type=_type(spot),
        default=_default(spot),
        value=json.dumps(value, ensure_ascii=False) if loaded else "",
        source=source,
        line=line,
        keys=spot.keys,
    )


def _exists(path: Path, data: Any) -> bool:
    if locate(path, data) is None:
        return False
    if data is None:
        return True
    holder, last = _member(path[:-1], data), path[-1]
    if isinstance(last, int):
        return isinstance(holder, list) and last < len(holder)
    return isinstance(holder, dict) and last in holder


def _known(path: Path, data: Any) -> tuple[str, ...]:
    spot = locate(path, data)
    names = _member(path, data)
    return (spot.keys if spot else ()) or (tuple(names) if isinstance(names, dict) else ())


def _member(path: Path, data: Any) -> Any:
    for part in path:
        data = inside(data, part)
    return data


def _source(path: Path, loaded: Loaded | None) -> tuple[Origin, int]:
    if loaded is None:
        return "", 0
    origin = loaded.origins.get(path)
    if origin is None:
        return "default", 0
    if "secret" in origin.sources:
        return "secret file", origin.line
    return ("env" if "env" in origin.sources else "file"), origin.line


def _doc(spot: Spot) -> str:
    if spot.field is not None and spot.field.description:
        return spot.field.description
    docs = [(block.__doc__ or "").strip() for block in spot.blocks]
    return "\n".join(doc for doc in docs if doc)


def _type(spot: Spot) -> str:
    if spot.owner is None or spot.field is None:
        return "block of keys" if spot.blocks else ""
    name = next(name for name, field in spot.owner.model_fields.items() if field is spot.field)
    return _words(spot.owner.model_json_schema()["properties"][name])


def _words(schema: dict[str, Any]) -> str:
    if "enum" in schema or "const" in schema:
        return "one of " + ", ".join(schema.get("enum", [schema.get("const")]))
    kinds = [option.get("type", "") for option in schema.get("anyOf", [schema])]
    names = {"array": "list", "object": "entries by name", "string": "text", "": "block of keys"}
    words = "number" if "number" in kinds else names.get(kinds[0], kinds[0])
    bounds = schema.get("anyOf", [schema])[0]
    limits = [f"{word} {bounds[key]}" for key, word in _BOUNDS.items() if key in bounds]
    limits += [f"like {bounds['pattern']}"] if "pattern" in bounds else []
    return ", ".join([words, " ".join(limits)] if limits else [words])


_BOUNDS = {"minimum": "from", "exclusiveMinimum": "more than", "maximum": "to"}


def _default(spot: Spot) -> str:
    if spot.field is None or spot.field.default is PydanticUndefined or spot.blocks:
        return ""
    default = spot.field.default
    return json.dumps(default, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if dump else str(value)


def _listed(names: tuple[str, ...]) -> str:
    return "known here: " + ", ".join(sorted(names)) if names else ""
