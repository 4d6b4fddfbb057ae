"""Keys are made, parsed, hashed and found."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.keys import RANDOM_BYTES, Presented, create, find, parse
from config.schema import Key

RANDOM = bytes(range(RANDOM_BYTES))


def configured(key: Presented, **changes: object) -> dict[str, Key]:
    entry = {"id": key.id, "secret_sha256": key.secret_sha256, "tenant": "product"} | changes
    return {key.id: Key.model_validate(entry)}


@given(st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES))
def test_a_new_key_has_the_documented_form_and_is_found(random: bytes) -> None:
    key = create(random)
    assert parse(key.text) == key
    assert key.secret_sha256 == hashlib.sha256(key.text.rpartition(f"{key.id}_")[2].encode()).hexdigest()
    keys = configured(key)
    assert find(keys, key.text) is keys[key.id]


def test_every_random_byte_counts() -> None:
    keys = {create(RANDOM[:at] + b"\xff" + RANDOM[at + 1 :]).text for at in range(RANDOM_BYTES)}
    assert len(keys | {create(RANDOM).text}) == RANDOM_BYTES + 1


@pytest.mark.parametrize("count", [0, RANDOM_BYTES - 1, RANDOM_BYTES + 1])
def test_a_key_takes_exactly_so_many_random_bytes(count: int) -> None:
    with pytest.raises(ValueError, match="44 random bytes"):
        create(b"x" * count)


def test_a_wrong_secret_and_an_unknown_id_find_nothing() -> None:
    key = create(RANDOM)
    other = create(bytes(RANDOM_BYTES))
    keys = configured(key)
    assert find(keys, f"spk_{key.id}_{other.secret}") is None
    assert find(keys, f"spk_{other.id}_{key.secret}") is None
    assert find({}, key.text) is None


def test_a_disabled_key_is_found_as_disabled() -> None:
    key = create(RANDOM)
    found = find(configured(key, disabled=True), key.text)
    assert found is not None
    assert found.disabled


TEXT = create(RANDOM).text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "spk_",
        TEXT[:-1],
        TEXT + "a",
        TEXT + "\n",
        " " + TEXT,
        TEXT.upper(),
        TEXT.replace("spk", "sk"),
        TEXT[:-1] + "é",
    ],
)
def test_what_is_no_key(text: str) -> None:
    assert parse(text) is None
    assert find(configured(create(RANDOM)), text) is None


def test_a_key_does_not_print_its_secret() -> None:
    key = create(RANDOM)
    assert key.secret not in f"{key!r} {key}"
    assert key.id in str(key)
