"""Unquoted words mean what YAML 1.2 says."""

from __future__ import annotations

import pytest

from config.scalars import plain_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("no", "no"),
        ("on", "on"),
        ("8080", 8080),
        ("-1", -1),
        ("0123", 123),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.e", "1.e"),
        (".", "."),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 301, "9" * 301),
        ("2026-01-01", "2026-01-01"),
        ("1024x1024", "1024x1024"),
        ("٣", "٣"),
    ],
)
def test_plain_words(text: str, value: object) -> None:
    found = plain_value(text)
    assert (found, type(found)) == (value, type(value))
