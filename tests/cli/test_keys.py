"""`spillover keys create`: a key is shown once, and its block fits into a configuration."""

from __future__ import annotations

import pytest
import yaml

from config.keys import find, parse
from tests.cli.command import spillover
from tests.config.deployments import changed, loaded


def test_the_printed_block_lets_the_printed_key_in() -> None:
    ran = spillover(
        "keys", "create", "--tenant", "product", "--scope", "admin", "--scope", "metrics", "--note", 'é "x"'
    )
    assert (ran.code, ran.err) == (0, "")
    (text,) = [line for line in ran.out.splitlines() if line.startswith("spk_")]
    (entry,) = yaml.safe_load(ran.out.partition("# Paste")[2].partition("\n")[2])
    config = loaded(changed("keys", [entry])).config
    key = find({key.id: key for key in config.keys}, text)
    assert key is not None
    assert (key.tenant, key.scopes, key.note, key.disabled) == (
        "product",
        ("admin", "metrics"),
        'é "x"',
        False,
    )
    shown = parse(text)
    assert shown is not None
    assert shown.secret not in ran.out.replace(text, "")


def test_json_is_one_document() -> None:
    document = spillover("keys", "create", "--tenant", "product", "--json").document
    assert document["config"]["scopes"] == ["generate"]
    assert yaml.safe_load(document["yaml"])[0]["id"] == document["config"]["id"]
    assert parse(document["key"]) is not None


def test_two_keys_differ() -> None:
    one, two = (
        spillover("keys", "create", "--tenant", "product", "--json").document["key"] for _ in range(2)
    )
    assert one != two


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tenant", "two words"],
        ["--tenant", ""],
        ["--tenant", "product", "--scope", "everything"],
        ["--tenant", "product", "--note", "two\nlines"],
    ],
)
def test_wrong_usage(arguments: list[str]) -> None:
    ran = spillover("keys", "create", *arguments)
    assert (ran.code, ran.out) == (2, "")
