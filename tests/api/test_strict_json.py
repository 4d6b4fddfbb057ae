"""JSON that two parsers could read differently, or that is meant to break one, is refused."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.api.refusals import Refusal
from router.api.strict_json import DEEPEST, decode

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_what_is_json_is_read_as_everybody_reads_it(value: dict[str, object]) -> None:
    assert decode(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(Refusal):
        assert isinstance(decode(body), dict)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": 1, "a": 2}',
        b'{"b": {"a": 1, "\\u0061": 2}}',
        b'{"a": "\\ud800"}',
        b'{"a": "\\udc00x"}',
        b'{"\\ud800": 1}',
        b'{"a": 1} trailing',
        b'{"a": "raw\ncontrol"}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": 18446744073709551616}',
        b'{"a": ' + b"9" * 100_000 + b"}",
        b'{"a": ' + b"9" * 4000 + b"}",
        b'{"a": [[-1e400]]}',
        b'{"a": 01}',
        b'{"a":' * 100_000,
        b"[" * 1_000_000,
        b'{"a": ' + b"[" * (DEEPEST) + b"]" * (DEEPEST) + b"}",
        b'{"a":[' + b"{}," * 50 + b'{"' + b'\\"[' * 10,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_refused(body: bytes) -> None:
    began = time.perf_counter()
    with pytest.raises(Refusal) as refused:
        decode(body)
    assert refused.value.code == "invalid_json"
    assert time.perf_counter() - began < 0.5


def test_deep_enough_for_anybody() -> None:
    depth = DEEPEST - 1
    assert decode(b'{"a": ' + b"[" * depth + b"]" * depth + b"}")


def test_brackets_in_texts_are_no_depth() -> None:
    text = '[{"\\' * 100
    assert decode(json.dumps({"a": text}).encode()) == {"a": text}


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert decode(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


def test_a_crowd_of_names_takes_no_time() -> None:
    body = json.dumps({f"a{i}": i for i in range(60_000)}).encode()
    began = time.perf_counter()
    decode(body)
    assert time.perf_counter() - began < 0.5
