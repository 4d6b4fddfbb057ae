"""Which dialects there are. One visible table; a third party adds its own by the entry-point group
`spillover.providers`, an object of type `Dialect`, which is loaded only when a deployment names it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from providers.contract import Provider
from providers.fal.dialect import FalQueue
from providers.fal.settings import Settings as FalSettings
from providers.http import Http
from providers.openai_images.dialect import OpenAIImages
from providers.openai_images.settings import Settings as OpenAIImagesSettings

GROUP = "spillover.providers"
Clock = Callable[[], float]
S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Dialect(Generic[S]):
    """A dialect: the model of its settings, and how one back end is made from them.

    `make(settings, http, base_url, credential, clock)`.
    """

    settings: type[S]
    make: Callable[[S, Http, str, str | None, Clock], Provider]


DIALECTS: Mapping[str, Dialect[Any]] = {
    "openai_images": Dialect(OpenAIImagesSettings, OpenAIImages),
    "fal": Dialect(FalSettings, FalQueue),
}


def connect(
    kind: str,
    settings: Mapping[str, object],
    http: Http,
    base_url: str,
    credential: str | None,
    clock: Clock = time.monotonic,
) -> Provider:
    """The back end at `base_url`. Raises for a kind or settings in which `check_settings` finds problems."""
    dialect = _find(kind)
    if dialect is None:
        raise LookupError(_unknown(kind))
    return dialect.make(dialect.settings.model_validate(settings), http, base_url, credential, clock)


def check_settings(kind: str, settings: Mapping[str, object]) -> list[str]:
    """What is wrong with them, one line each; never the values, which may be secret."""
    dialect = _find(kind)
    if dialect is None:
        return [_unknown(kind)]
    try:
        dialect.settings.model_validate(settings)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        return [_problem(problem["loc"], problem["msg"]) for problem in problems]
    return []


def _find(kind: str) -> Dialect[Any] | None:
    if kind in DIALECTS:
        return DIALECTS[kind]
    for entry in entry_points(group=GROUP, name=kind):
        found = entry.load()
        if not isinstance(found, Dialect):
            raise TypeError(f"entry point {entry.name} of {GROUP} is not a Dialect")
        return found
    return None


def _unknown(kind: str) -> str:
    installed = {entry.name for entry in entry_points(group=GROUP)}
    return f"unknown dialect {json.dumps(kind)}; known are {', '.join(sorted(installed | set(DIALECTS)))}"


def _problem(location: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in location)
    return f"{where}: {message}" if where else message
