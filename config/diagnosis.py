"""What pydantic says about the data, in an operator's words and with a way out. Never quotes a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from config.outline import TAG, inside, locate, without_tags
from config.problems import Finding, Path, did_you_mean
from config.scalars import plain_value

_PLAIN = {
    "model_type": "should be a block of keys",
    "dict_type": "should be a block of keys",
    "tuple_type": "should be a list",
    "string_type": "should be a text",
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "int_from_float": "should be a whole number",
    "float_type": "should be a number",
    "float_parsing": "should be a number",
    "decimal_type": "should be a number",
    "decimal_parsing": "should be a number",
    "date_parsing": "should be a date such as 2026-01-31",
    "date_from_datetime_parsing": "should be a date such as 2026-01-31",
    "date_type": "should be a date such as 2026-01-31",
}
_NUMBERS = frozenset({"int_type", "int_parsing", "float_type", "float_parsing", "bool_type", "bool_parsing"})


def diagnose(error: ValidationError, data: Any) -> list[Finding]:
    """One finding for each thing pydantic found in `data`."""
    details = error.errors(include_url=False, include_input=False)
    found = [(detail["type"], _SPECIAL.get(detail["type"], _value)(detail, data)) for detail in details]
    # A list whose only item is wrong counts as too short for pydantic: that is no second problem.
    paths = [finding.path for _, finding in found]
    return [
        finding
        for kind, finding in found
        if kind != "too_short" or not any(_is_inside(path, finding.path) for path in paths)
    ]


def _unknown(detail: ErrorDetails, data: Any) -> Finding:
    path = without_tags(detail["loc"], data)
    around = locate(path[:-1], data)
    return Finding(path, "unknown key", did_you_mean(path[-1], around.keys if around else ()))


def _missing(detail: ErrorDetails, data: Any) -> Finding:
    return Finding(without_tags(detail["loc"], data), "is required")


def _untagged(detail: ErrorDetails, data: Any) -> Finding:
    path = (*without_tags(detail["loc"], data), TAG)
    return Finding(path, "is required: `onprem` or `external`")


def _wrong_tag(detail: ErrorDetails, data: Any) -> Finding:
    path = (*without_tags(detail["loc"], data), TAG)
    return Finding(
        path, "should be `onprem` or `external`", did_you_mean(_at(data, path), ("onprem", "external"))
    )


def _choice(detail: ErrorDetails, data: Any) -> Finding:
    path = without_tags(detail["loc"], data)
    expected = str(detail.get("ctx", {}).get("expected", ""))
    options = [option.strip("'") for part in expected.split(" or ") for option in part.split(", ")]
    return Finding(path, f"should be {expected}", did_you_mean(_at(data, path), options))


def _too_short(detail: ErrorDetails, data: Any) -> Finding:
    least = detail.get("ctx", {}).get("min_length", 1)
    return Finding(without_tags(detail["loc"], data), f"should have at least {least} entry")


def _value(detail: ErrorDetails, data: Any) -> Finding:
    path = without_tags(detail["loc"], data)
    kind, message = detail["type"], detail["msg"]
    message = _PLAIN.get(kind) or message.removeprefix("Value error, ").removeprefix("Input ")
    return Finding(path, message[:1].lower() + message[1:], _quotes(kind, _at(data, path)))


def _quotes(kind: str, value: Any) -> str:
    if kind == "string_type" and isinstance(value, int | float):
        return "put it in quotes"
    if kind in _NUMBERS and isinstance(value, str) and isinstance(plain_value(value), int | float):
        return "take away the quotes"
    return ""


def _is_inside(path: Path, around: Path) -> bool:
    return len(path) > len(around) and path[: len(around)] == around


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = inside(data, part)
    return data


_SPECIAL: Mapping[str, Callable[[ErrorDetails, Any], Finding]] = {
    "extra_forbidden": _unknown,
    "missing": _missing,
    "too_short": _too_short,
    "union_tag_not_found": _untagged,
    "union_tag_invalid": _wrong_tag,
    "literal_error": _choice,
}
