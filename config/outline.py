"""The schema as a map: what stands at a path, which keys are known there, and of what type a value is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from config.problems import Path
from config.schema import Config

TAG = "place"
"""The key that says which block of a union is meant."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One place in the schema: its type, and the block and field that hold it where there is one."""

    annotation: Any
    owner: type[BaseModel] | None = None
    field: FieldInfo | None = None

    @property
    def blocks(self) -> tuple[type[BaseModel], ...]:
        """The blocks this may be: one, several of a union, or none for scalars, lists and named entries."""
        return tuple(kind for kind in _alternatives(self.annotation) if _is_block(kind))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys known here."""
        return tuple(dict.fromkeys(key for block in self.blocks for key in block.model_fields))

    @property
    def takes_text(self) -> bool:
        """Whether a text may stand here as it is."""
        kinds = _alternatives(self.annotation)
        return not any(kind in (int, float, bool, Any) for kind in kinds)

    @property
    def takes_anything(self) -> bool:
        """Whether the schema leaves this open, as in a dialect's own settings."""
        return self.annotation is Any


def locate(path: Path, data: Any) -> Spot | None:
    """What the schema says about `path`; `data` tells the alternatives of a union apart."""
    spot = Spot(Config)
    for part in path:
        inner = _step(spot, part, data)
        if inner is None:
            return None
        data = inside(data, part)
        spot = _narrowed(inner, data)
    return spot


def without_tags(location: tuple[str | int, ...], data: Any) -> Path:
    """A location of pydantic's as a path into the data: union tags and `[key]` marks taken out."""
    path: list[str | int] = []
    spot: Spot | None = Spot(Config)
    skip = False
    for index, part in enumerate(location):
        if skip:
            skip = False
            continue
        if part == "[key]" and index == len(location) - 1 and not _has(data, part):
            break
        path.append(part)
        spot = _step(spot, part, data) if spot is not None else None
        data = inside(data, part)
        skip = spot is not None and len(spot.blocks) > 1
    return tuple(path)


def inside(data: Any, part: str | int) -> Any:
    """The member of a block or list, or `None`."""
    if isinstance(data, Mapping):
        return data.get(part)
    if isinstance(data, list | tuple) and isinstance(part, int):
        return data[part] if part < len(data) else None
    return None


def _has(data: Any, part: str) -> bool:
    return isinstance(data, Mapping) and part in data


def _step(spot: Spot, part: str | int, data: Any) -> Spot | None:
    if spot.takes_anything:
        return spot
    if spot.blocks:
        chosen = [block for block in _chosen(spot.blocks, data) if part in block.model_fields]
        if not chosen:
            return None
        field = chosen[0].model_fields[str(part)]
        return Spot(field.annotation, chosen[0], field)
    kind = _alternatives(spot.annotation)[0]
    arguments = get_args(kind)
    if get_origin(kind) is dict and isinstance(part, str):
        return Spot(arguments[1])
    if get_origin(kind) is tuple and isinstance(part, int):
        return Spot(arguments[0])
    return None


def _narrowed(spot: Spot, data: Any) -> Spot:
    chosen = _chosen(spot.blocks, data)
    return replace(spot, annotation=chosen[0]) if len(chosen) < len(spot.blocks) else spot


def _chosen(blocks: tuple[type[BaseModel], ...], data: Any) -> tuple[type[BaseModel], ...]:
    """The block of a union that `data` names, or all of them where it names none."""
    tag = inside(data, TAG) if len(blocks) > 1 else None
    named = [block for block in blocks if tag and tag in get_args(block.model_fields[TAG].annotation)]
    return tuple(named) or blocks


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return tuple(kind for option in get_args(annotation) for kind in _alternatives(option))
    if origin is Literal:
        return (str,)
    return (annotation,)


def _is_block(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
