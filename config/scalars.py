"""What an unquoted word of YAML means, by YAML 1.2's core schema.

PyYAML follows 1.1, where `no` is false, `0123` is octal, `12:30` is 750 and `2026-01-01` is a date; editors
with the JSON schema follow 1.2, so the file means the same to both.
"""

from __future__ import annotations

import math
import re

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,10})?")


def plain_value(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar; infinities and what is not a number stay text."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INT.fullmatch(text):
        return int(text)
    if len(text) <= 300 and _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text
