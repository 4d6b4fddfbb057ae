"""What is wrong with a configuration, and where: a path into the data, a line, and a way out.

Paths are printed as operators write them: `pools.fal.models.krea-2-turbo.prices[0].valid_from`.
A name with a dot in it stands in quotes: `models."flux.1-dev".steps`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

Path = tuple[str | int, ...]

_PLAIN = re.compile(r"[^.\[\]\"\s]+")
_PART = re.compile(
    r"(?:^|(?<=.)\.)(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^.\[\]\"\s]+))|\[(?P<index>\d{1,6})\]"
)
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to fix. `line` and `column` count from 1; `path` is empty when the whole file is meant.

    Never holds a value out of the file, which may be a secret; the names of pools, models and so on it does.
    """

    path: str
    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        what = f"{self.path}: {self.message}" if self.path else self.message
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.line}:{self.column}: {what}{hint}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of the data before it is known on which line of the file the data stands."""

    path: Path
    message: str
    hint: str = ""


def written(path: Path) -> str:
    """The path as an operator writes it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{_name(part)}" if text else _name(part)
    return text


def read(text: str) -> Path | None:
    """The inverse of `written`, or `None` where `text` is no path."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            return None
        index, quoted, plain = match.group("index", "quoted", "plain")
        parts.append(int(index) if index else plain or quoted)
        at = match.end()
    return tuple(parts) or None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A hint naming the known word nearest to `name`, or nothing."""
    nearest = get_close_matches(str(name)[:_LONGEST_NAME], list(known), n=1, cutoff=0.6)
    return f"did you mean `{nearest[0]}`?" if nearest else ""


def _name(part: str) -> str:
    if _PLAIN.fullmatch(part) and part.isprintable() and len(part) <= _LONGEST_NAME:
        return part
    tame = "".join(c if c.isprintable() and c != '"' else "?" for c in part[:_LONGEST_NAME])
    return f'"{tame}"'
