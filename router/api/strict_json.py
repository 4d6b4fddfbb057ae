"""JSON as RFC 8259 means it, and no more: what two parsers could read differently is refused.

Refused are NaN and infinities, numbers too large for a double or 64 bits, names that stand twice, lone
surrogates, anything but UTF-8, and nesting deeper than anything here needs.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from router.api.refusals import Refusal

DEEPEST = 32
_WIDEST = 2**64
# Strings first, so that brackets inside them are skipped. Linear: every byte is looked at once.
_TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class _NotStrictError(ValueError):
    """Why a text is refused, in words that hold nothing of the text."""


def decode(body: bytes) -> dict[str, Any]:
    """The one JSON object in `body`; raises a `Refusal`."""
    try:
        _shallow(body)
        value = _decoder.decode(body.decode("utf-8"))
        _check_numbers(value)
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except _NotStrictError as reason:
        raise Refusal("invalid_json", f"The body is not valid JSON: {reason}.") from None
    except UnicodeEncodeError:
        raise Refusal("invalid_json", "The body is not valid JSON: half a surrogate pair.") from None
    except UnicodeDecodeError:
        raise Refusal("invalid_json", "The body is not valid JSON: it is not UTF-8.") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Refusal("invalid_json", f"The body is not valid JSON: wrong at {place}.") from None
    except ValueError:  # more digits than Python converts
        raise Refusal("invalid_json", "The body is not valid JSON: an integer is too large.") from None
    if not isinstance(value, dict):
        raise Refusal("invalid_json", "The body must be one JSON object.")
    return value


def _shallow(body: bytes) -> None:
    """Checked before parsing, because a recursive parser is what deep nesting is meant to break."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for token in _TOKENS.finditer(body):
        match body[token.start()]:
            case 0x5B | 0x7B:
                depth += 1
                if depth > DEEPEST:
                    raise _NotStrictError(f"nested deeper than {DEEPEST}")
            case 0x5D | 0x7D:
                depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotStrictError("a name stands twice in one object")
    return found


def _check_numbers(value: Any) -> None:
    """After parsing, because a hook for each number would cost more than all the rest."""
    if isinstance(value, dict):
        for inner in value.values():
            _check_numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_numbers(inner)
    elif isinstance(value, int):
        if abs(value) >= _WIDEST:
            raise _NotStrictError("an integer is too large")
    elif isinstance(value, float) and not math.isfinite(value):
        raise _NotStrictError("a number is too large")


def _constant(_: str) -> NoReturn:
    raise _NotStrictError("NaN and infinities are no JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
