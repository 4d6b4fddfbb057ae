"""From a file to a `Config`, or to a list of everything that is wrong with it. The result is a value.

    text -> plain data with line numbers -> references resolved -> schema -> cross-checks -> Loaded | Refused

No value out of the file stands in a problem, because it may be a secret; names of pools and models do.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from config.crosscheck import contradictions
from config.diagnosis import diagnose
from config.document import Document, read_document
from config.interpolation import Source, Surroundings, read_secret
from config.outline import inside, locate
from config.plausibility import implausible, worth_a_look
from config.problems import Finding, Path, Problem, written
from config.scalars import plain_value
from config.schema import Config

LARGEST_FILE = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written: its line, and what its references led to (`env`, `secret`, `default`)."""

    line: int
    sources: frozenset[Source] = frozenset()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A deployment that makes sense. `text_hash` is the SHA-256 of the text, references unresolved."""

    config: Config
    text_hash: str
    warnings: tuple[Problem, ...] = ()
    origins: Mapping[Path, Origin] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """Everything that is wrong, in the order of the file."""

    problems: tuple[Problem, ...]


def load(path: str | os.PathLike[str], environ: Mapping[str, str] | None = None) -> Loaded | Refused:
    """Read and check the file at `path`; references look at `environ`, by default the process's own."""
    around = Surroundings(os.environ if environ is None else environ, read_secret)
    try:
        with FilePath(path).open("rb") as file:
            data = file.read(LARGEST_FILE)
    except OSError as error:
        return _refused(f"cannot read the file: {error.strerror or type(error).__name__}")
    if len(data) >= LARGEST_FILE:
        return _refused("the file is 10 MiB or larger")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _refused("the file is not UTF-8 text")
    # The edge: which prices hold is a question of the calendar, and nothing below reads a clock.
    now = time.time()  # noqa: TID251
    return parse(text, around, datetime.fromtimestamp(now, tz=UTC).date())


def parse(text: str, around: Surroundings, today: date) -> Loaded | Refused:
    """Check a deployment given as text. Pure but for what `around.read_file` does."""
    document = read_document(text, around)
    if document.data is None:
        return Refused(document.problems or _refused("the file is empty").problems)
    checked = _validated(document)
    if isinstance(checked, Config) and not document.problems:
        findings = [*contradictions(checked), *implausible(checked)]
        if not findings:
            warnings = _placed([*worth_a_look(checked, today), *_bare_secrets(checked, document)], document)
            digest = hashlib.sha256(text.encode()).hexdigest()
            return Loaded(checked, digest, warnings, _origins(document))
    else:
        findings = [] if isinstance(checked, Config) else checked
    # What an unresolved reference left behind is no second problem.
    placed = _placed([found for found in findings if found.path not in document.unresolved], document)
    return Refused(_sorted([*document.problems, *placed]))


def _validated(document: Document) -> Config | list[Finding]:
    data = _typed(document)
    try:
        # Through JSON, because pydantic's strict mode then takes lists for tuples and texts for dates, and
        # still no text for a number.
        return Config.model_validate_json(json.dumps(data, allow_nan=False), strict=True)
    except ValidationError as error:
        return diagnose(error, data)


def _typed(document: Document) -> Any:
    """The data with interpolated texts read as YAML where the schema wants a number, or leaves it open."""
    for path, reference in document.references.items():
        expanded = reference.expanded
        if not expanded.whole or "secret" in expanded.sources:
            continue
        spot = locate(path, document.data)
        if spot is None or spot.takes_text or (spot.takes_anything and reference.quoted):
            continue
        holder = document.data
        for part in path[:-1]:
            holder = inside(holder, part)
        holder[path[-1]] = plain_value(expanded.text)
    return document.data


def _bare_secrets(config: Config, document: Document) -> Iterable[Finding]:
    for name, pool in config.pools.items():
        path = ("pools", name, "credential")
        if pool.place == "external" and path not in document.references:
            yield Finding(path, "a secret stands in the file", "write ${file:/run/secrets/...} or ${VAR}")


def _origins(document: Document) -> dict[Path, Origin]:
    references = document.references
    return {
        path: Origin(place[0], references[path].expanded.sources if path in references else frozenset())
        for path, place in document.places.items()
    }


def _placed(findings: Iterable[Finding], document: Document) -> tuple[Problem, ...]:
    return _sorted(_place(found, document) for found in findings)


def _place(found: Finding, document: Document) -> Problem:
    return Problem(written(found.path), *document.place(found.path), found.message, found.hint)


def _sorted(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column, problem.path)))


def _refused(message: str) -> Refused:
    return Refused((Problem("", 1, 1, message),))
