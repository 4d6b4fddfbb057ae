"""YAML is read strictly and within bounds, and each value's line is kept."""

from __future__ import annotations

import time

import pytest

from config.document import Document, read_document
from config.interpolation import Surroundings
from config.problems import Problem


def read(text: str) -> Document:
    return read_document(text, Surroundings({}, lambda path: path))


def refused(text: str) -> Problem:
    document = read(text)
    assert document.data is None
    (problem,) = document.problems
    return problem


def test_places_are_those_of_keys_and_of_items() -> None:
    document = read("a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n")
    assert document.data == {"a": {"b": 1, "c": ["x", {"d": 2}]}}
    assert document.places["a", "b"] == (2, 3)
    assert document.places["a", "c", 1, "d"] == (5, 8)
    assert document.place(("a", "c", 1, "absent", "deeper")) == (5, 7)
    assert document.place(("nowhere",)) == (1, 1)


def test_a_duplicate_key_names_both_lines() -> None:
    (problem,) = read("a: 1\nb:\n  c: 1\n  c: 2\n").problems
    assert (problem.path, problem.line, problem.message) == ("b.c", 4, "duplicate key, first on line 3")


def test_the_same_key_in_another_block_is_no_duplicate() -> None:
    assert read("a: {x: 1}\nb: {x: 1}\n").problems == ()


def test_a_key_must_be_one_word() -> None:
    (problem,) = read("? [a, b]\n: 1\nc: 2\n").problems
    assert (problem.line, problem.message) == (1, "a key must be one word")


def test_keys_stay_text() -> None:
    assert read("1: a\ntrue: b\nnull: c\n").data == {"1": "a", "true": "b", "null": "c"}


def test_aliases_are_followed() -> None:
    document = read("a: &x {b: 1}\nc: *x\n")
    assert document.data == {"a": {"b": 1}, "c": {"b": 1}}
    assert document.places["c",] == (2, 1)


def test_a_merge_yields_to_what_is_written() -> None:
    text = "a: &x {p: 1, q: 1}\nb: &y {q: 2, r: 2}\nc:\n  <<: [*x, *y]\n  p: 3\n"
    assert read(text).data["c"] == {"p": 3, "q": 1, "r": 2}
    assert read("a: &x {p: 1}\nc: {<<: *x}\n").data["c"] == {"p": 1}
    assert read("a: {'<<': 1}\n").data == {"a": {"<<": 1}}


def test_only_blocks_can_be_merged() -> None:
    (problem,) = read("a: {<<: 7}\n").problems
    assert problem.message == "can only merge blocks of keys"


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join(['*' + before] * 10)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        MERGE_BOMB,
        "a: &a [*a]\n",
        "a: &a {b: *a}\n",
        "a: &a {<<: *a}\n",
        "[" * 1_000_000,
        "a: " + "{b: " * 100 + "1" + "}" * 100,
        "- x\n" * 100_001,
        "\n".join("  " * depth + "k:" for depth in range(200)),
    ],
    ids=["aliases", "merges", "own-list", "own-block", "own-merge", "brackets", "braces", "items", "indents"],
)
def test_a_bomb_is_refused_quickly(text: str) -> None:
    begun = time.process_time()
    assert refused(text).message.startswith("too many")
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: [1, 2\n", 3, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: *nothing\n", 1, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "not valid YAML"),
        ("a: 1\nb: !!python/object:os.system {}\n", 2, "tags"),
        ("a: !!str 1\n", 1, "tags"),
        ("a: !secret x\n", 1, "tags"),
        ("a: 1\nb: \x07\n", 2, "a character that YAML does not allow"),
        ("%YAML 3.0\n---\na: 1\n", 1, "not valid YAML"),
        ("a: b: c\n", 1, "not valid YAML"),
    ],
)
def test_text_that_is_not_read(text: str, line: int, message: str) -> None:
    problem = refused(text)
    assert problem.line == line
    assert message in problem.message


@pytest.mark.parametrize("text", ['a: "\\ud800"\n', '"\\ud800": a\n'])
def test_half_a_character_is_no_text(text: str) -> None:
    (problem,) = read(text).problems
    assert problem.message == "is not valid Unicode"
