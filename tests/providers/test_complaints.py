"""Error bodies in the shapes servers use, and in no shape at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.complaints import TEXT_BYTES, read_complaint


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, ("t", "c")),
        ({"detail": "text", "error_type": "startup_timeout"}, ("startup_timeout",)),
        ({"detail": [{"msg": "m", "type": "content_policy_violation"}]}, ("content_policy_violation",)),
        ({"error": "text"}, ()),
        ({"error": {"code": "not a machine word: https://x"}}, ()),
        (["a"], ()),
        (None, ()),
    ],
)
def test_words(body: object, words: tuple[str, ...]) -> None:
    assert read_complaint(json.dumps(body).encode()).words == words


@pytest.mark.parametrize(
    ("text", "policy", "memory", "credit"),
    [
        ("Rejected by the safety system", True, False, False),
        ('{"error":{"code":"moderation_blocked"}}', True, False, False),
        ('{"detail":"CUDA out of memory. Tried to allocate 2 GiB"}', False, True, False),
        ('{"detail":"torch.OutOfMemoryError"}', False, True, False),
        ('{"detail":"User is locked. Reason: Exhausted balance."}', False, False, True),
        ('{"error":{"code":"insufficient_quota"}}', False, False, True),
        ("Internal Server Error", False, False, False),
    ],
)
def test_meaning(text: str, policy: bool, memory: bool, credit: bool) -> None:
    said = read_complaint(text.encode())
    assert (said.is_policy, said.is_out_of_memory, said.is_credit) == (policy, memory, credit)


@settings(deadline=None)  # the machine may be busy
@given(st.binary())
def test_any_bytes_are_read(body: bytes) -> None:
    read_complaint(body)


@pytest.mark.parametrize("body", [b"[" * 5000, b'{"error":' * 1500 + b"1" + b"}" * 1500, b"\xff" * 100_000])
def test_hostile_bytes_are_read_and_bounded(body: bytes) -> None:
    assert len(read_complaint(body).text) <= TEXT_BYTES


def test_its_text_is_not_printed() -> None:
    assert "fox" not in repr(read_complaint(b'{"detail":"a red fox"}'))
