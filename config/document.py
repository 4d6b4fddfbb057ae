"""YAML text to plain data that remembers where each value stood.

Safe by construction: no tags, no duplicate keys, bounded depth and bounded number of values once aliases are
followed. Problems are collected, so that an operator sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from config.interpolation import Expanded, Surroundings, Unresolved, expand
from config.problems import Path, Problem, written
from config.scalars import plain_value
from config.yaml_nodes import DEEPEST, MOST_VALUES, Malformed, compose, position

_MERGE = "<<"
MOST_MERGES = 1_000


@dataclass(frozen=True, slots=True)
class Reference:
    """A scalar that came by interpolation. `quoted`: it stood in quotes, so it is text where text fits."""

    expanded: Expanded
    quoted: bool


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data, the place of each path in it, which scalars were interpolated, and what is wrong so far."""

    data: Any = field(repr=False)
    places: Mapping[Path, tuple[int, int]] = field(repr=False)
    """Line and column, from 1, of each value's key; of the value itself in a list."""
    references: Mapping[Path, Reference] = field(repr=False)
    unresolved: frozenset[Path] = frozenset()
    problems: tuple[Problem, ...] = ()

    def place(self, path: Path) -> tuple[int, int]:
        """The place of `path`, or of the nearest block around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))


def read_document(text: str, around: Surroundings) -> Document:
    """The document in `text`; where it is no YAML at all, `data` is `None` and the problem says why."""
    reading = _Reading(around)
    try:
        root = compose(text)
        data = reading.value(root, (), position(root), frozenset())
    except Malformed as error:
        return Document(None, {}, {}, problems=(Problem("", *error.at, error.message),))
    unresolved = frozenset(reading.unresolved)
    return Document(data, reading.places, reading.references, unresolved, tuple(reading.problems))


class _Reading:
    """One pass over a node tree."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._merges = 0
        self.places: dict[Path, tuple[int, int]] = {}
        self.references: dict[Path, Reference] = {}
        self.unresolved: set[Path] = set()
        self.problems: list[Problem] = []

    def value(self, node: yaml.Node, path: Path, key: tuple[int, int], open_nodes: frozenset[int]) -> Any:
        """The plain value of `node`; `open_nodes` are the blocks around it, to find an alias of itself."""
        if len(self.places) >= MOST_VALUES or len(path) > DEEPEST or id(node) in open_nodes:
            raise Malformed("too many or too deeply nested values (aliases count each time)", position(node))
        self.places[path] = key
        inside = open_nodes | {id(node)}
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode):
            items = enumerate(node.value)
            return [self.value(item, (*path, index), position(item), inside) for index, item in items]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path, inside: frozenset[int]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, (key, value) in self._entries(node, path, inside).items():
            found[name] = self.value(value, (*path, name), position(key), inside)
        return found

    def _entries(
        self, node: yaml.MappingNode, path: Path, inside: frozenset[int]
    ) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Key and value nodes by name; what a merge key (`<<: *anchor`) brings yields to what is written."""
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._complain(path, key, "a key must be one word")
            elif key.value == _MERGE and key.style is None:
                merged |= self._merged(value, path, inside)
            elif key.value in own:
                first = position(own[key.value][0])[0]
                self._complain((*path, key.value), key, f"duplicate key, first on line {first}")
            elif self._is_text(key, path):
                own[key.value] = (key, value)
        return merged | own

    def _merged(
        self, node: yaml.Node, path: Path, inside: frozenset[int]
    ) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        sources = list(node.value) if isinstance(node, yaml.SequenceNode) else [node]
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for source in reversed(sources):
            if not isinstance(source, yaml.MappingNode):
                self._complain((*path, _MERGE), source, "can only merge blocks of keys")
            elif id(source) in inside or len(inside) > DEEPEST or self._merges >= MOST_MERGES:
                raise Malformed("too many merges, or an anchor that refers to itself", position(source))
            else:
                self._merges += 1
                found |= self._entries(source, path, inside | {id(source)})
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        text: str = node.value
        quoted = isinstance(node, yaml.ScalarNode) and node.style is not None
        if not self._is_text(node, path):
            return ""
        found = expand(text, self._around)
        if found is None:
            return text if quoted else plain_value(text)
        if isinstance(found, Unresolved):
            self._complain(path, node, found.message)
            self.unresolved.add(path)
            return ""
        self.references[path] = Reference(found, quoted)
        return found.text

    def _is_text(self, node: yaml.Node, path: Path) -> bool:
        # An escape such as "\ud800" makes half a character, which no encoding can carry further.
        if any("\ud800" <= char <= "\udfff" for char in node.value):
            self._complain(path, node, "is not valid Unicode")
            self.unresolved.add(path)
            return False
        return True

    def _complain(self, path: Path, node: yaml.Node, message: str) -> None:
        self.problems.append(Problem(written(path), *position(node), message))
