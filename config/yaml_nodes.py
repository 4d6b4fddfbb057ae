"""YAML text to a node tree, within bounds: no tags, no more nodes or depth than a deployment can need."""

from __future__ import annotations

from typing import Protocol

import yaml

MOST_VALUES = 100_000
DEEPEST = 32


class Malformed(Exception):
    """The text is no YAML that this program reads. The message never quotes the text."""

    def __init__(self, message: str, at: tuple[int, int]) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def compose(text: str) -> yaml.Node:
    """The root node of the only document in `text`."""
    loader: _Bounded | None = None
    try:
        loader = _Bounded(text)
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise Malformed(_words(error), _marked(error.problem_mark or error.context_mark)) from None
    except yaml.reader.ReaderError as error:
        raise Malformed("a character that YAML does not allow", _offset(text, error.position)) from None
    finally:
        if loader is not None:
            loader.dispose()
    if root is None:
        raise Malformed("the file is empty", (1, 1))
    return root


def position(node: yaml.Node) -> tuple[int, int]:
    """Line and column of a node, from 1."""
    return _marked(node.start_mark)


class _Bounded(yaml.SafeLoader):
    """PyYAML's composer with limits on its recursion and its harvest."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) is not None:
            raise Malformed("tags (`!...`) are not read here", _marked(event.start_mark))
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST or self._count > MOST_VALUES:
            raise Malformed("too many or too deeply nested values", _marked(event.start_mark))
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _words(error: yaml.MarkedYAMLError) -> str:
    words = [part for part in (error.context, error.problem) if part]
    return "not valid YAML: " + ", ".join(words)


class _Mark(Protocol):
    line: int
    column: int


def _marked(mark: _Mark | None) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _offset(text: str, at: int) -> tuple[int, int]:
    before = text[:at]
    return before.count("\n") + 1, at - before.rfind("\n")
