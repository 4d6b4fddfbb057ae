"""Lua as source: one operation a file in `lua/`, put together with the parts it names in its `use:` line.

Every script starts with `#!lua`, so that the server refuses keys of another slot instead of working by luck.
Those that give something back are flagged `allow-oom`: a full server must still hear of what has ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Script:
    """One operation's whole text and the SHA-1 the server knows it by."""

    name: str
    text: str
    sha: str


def load() -> Mapping[str, Script]:
    """All operations by name. Raises `FileNotFoundError` if one names a part that is not there."""
    folder = files("router.store") / "lua"
    sources = {
        entry.name.removesuffix(".lua"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".lua")
    }
    return {name: _assemble(name, sources) for name in sources if not name.startswith("_")}


def _assemble(name: str, sources: Mapping[str, str]) -> Script:
    parts = []
    for part in _named("use", sources[name]):
        if f"_{part}" not in sources:
            raise FileNotFoundError(f"lua/{name}.lua uses lua/_{part}.lua, which does not exist")
        parts.append(sources[f"_{part}"])
    flags = "".join(f" flags={flag}" for flag in _named("flags", sources[name]))
    text = f"#!lua{flags}\n" + "\n".join([*parts, sources[name]])
    return Script(name, text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _named(what: str, source: str) -> list[str]:
    for line in source.splitlines():
        if line.startswith(f"-- {what}:"):
            return line.removeprefix(f"-- {what}:").split()
    return []
