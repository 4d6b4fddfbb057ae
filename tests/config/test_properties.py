"""Whatever unknown keys stand in whatever block: each is refused, at its line, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from config.loading import Refused
from config.outline import locate
from config.problems import read, written
from tests.config.deployments import FULL, outcome

LINES = FULL.splitlines()
MARKS = [number for number, line in enumerate(LINES) if line.lstrip().startswith("#@")]

# Printable characters that YAML allows as they are; U+2028 and U+2029 are line breaks there.
TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]), min_size=1, max_size=30)
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
NESTED = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(TEXT, VALUES, max_size=3)


@settings(max_examples=300, deadline=None)
@given(mark=st.sampled_from(MARKS), extra=st.dictionaries(TEXT, NESTED, min_size=1, max_size=3))
def test_unknown_keys_are_refused_at_their_lines(mark: int, extra: dict[str, Any]) -> None:
    indent, _, block = LINES[mark].partition("#@")
    path = read(block.strip()) or ()
    spot = locate(path, _PLACES)
    assert spot is not None
    extra = {key: value for key, value in extra.items() if key not in spot.keys}
    added = [f"{indent}{_yaml(key)}: {_yaml(value)}" for key, value in extra.items()]
    found = outcome("\n".join([*LINES[:mark], *added, *LINES[mark + 1 :]]))
    if not extra:
        assert not isinstance(found, Refused)
        return
    assert isinstance(found, Refused)
    assert [(problem.line, problem.path, problem.message) for problem in found.problems] == [
        (mark + 1 + number, written((*path, key)), "unknown key") for number, key in enumerate(extra)
    ]


_PLACES = {"pools": {"house": {"place": "onprem"}, "fal": {"place": "external"}}}


def _yaml(value: Any) -> str:
    """One line of YAML: JSON, without what would be a reference."""
    return json.dumps(value, ensure_ascii=False).replace("${", "{")
