"""References inside a scalar: `${VAR}`, `${VAR:-default}`, `${file:/run/secrets/x}`; `$${` is a literal `${`.

A default may not hold `}`; references do not nest, and a resolved text is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Source = Literal["env", "default", "secret"]
"""Where a text came from: the environment, the default in the reference, or a file (always a secret)."""

_REFERENCE = re.compile(
    r"(?P<escape>\$\$\{)"
    r"|\$\{(?P<var>[A-Za-z_][A-Za-z0-9_]*)(?P<fallback>:-(?P<default>[^}]*))?\}"
    r"|\$\{file:(?P<file>/[^}]+)\}"
    r"|(?P<malformed>\$\{)"
)
_LARGEST_SECRET = 65_536


@dataclass(frozen=True, slots=True)
class Expanded:
    """A scalar with its references resolved. `whole`: it was one reference and nothing else."""

    text: str = field(repr=False)
    sources: frozenset[Source]
    whole: bool


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that leads nowhere; the message names it, never a value."""

    message: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What references may look at."""

    environ: Mapping[str, str] = field(repr=False)
    read_file: Callable[[str], str]


def read_secret(path: str) -> str:
    """The text of a secret file; raises `OSError` or `ValueError` with a message fit for printing."""
    with open(path, "rb") as file:
        data = file.read(_LARGEST_SECRET + 1)
    if len(data) > _LARGEST_SECRET:
        raise ValueError(f"larger than {_LARGEST_SECRET} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None


def expand(text: str, around: Surroundings) -> Expanded | Unresolved | None:
    """`text` with its references resolved, or `None` where it holds none."""
    if "${" not in text:
        return None
    parts: list[str] = []
    sources: set[Source] = set()
    at = 0
    whole = False
    for match in _REFERENCE.finditer(text):
        found = _resolve(match, around)
        if isinstance(found, Unresolved):
            return found
        value, source = found
        parts += [text[at : match.start()], value]
        at = match.end()
        whole = source is not None and match.span() == (0, len(text))
        sources |= {source} if source else set()
    return Expanded("".join(parts) + text[at:], frozenset(sources), whole)


def _resolve(match: re.Match[str], around: Surroundings) -> tuple[str, Source | None] | Unresolved:
    if match["escape"]:
        return "${", None
    if match["var"]:
        return _variable(match["var"], match["default"], around.environ)
    if match["file"]:
        return _file(match["file"], around.read_file)
    return Unresolved(
        "malformed reference: write ${VAR}, ${VAR:-default}, ${file:/path}; $${ is a literal ${"
    )


def _variable(name: str, default: str | None, environ: Mapping[str, str]) -> tuple[str, Source] | Unresolved:
    value = environ.get(name)
    if value is not None and any("\ud800" <= char <= "\udfff" for char in value):
        return Unresolved(f"the environment variable {name} is not UTF-8 text")
    if default is not None:
        # As in a shell: `:-` also replaces an empty value.
        return (value, "env") if value else (default, "default")
    if value is None:
        return Unresolved(f"the environment variable {name} is not set")
    return value, "env"


def _file(path: str, read_file: Callable[[str], str]) -> tuple[str, Source] | Unresolved:
    try:
        return read_file(path).rstrip("\r\n"), "secret"
    except OSError as error:
        return Unresolved(f"cannot read the file {path}: {error.strerror or type(error).__name__}")
    except ValueError as error:
        return Unresolved(f"cannot read the file {path}: {error}")
