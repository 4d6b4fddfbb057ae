"""One bad probe ejects nobody; three do, and two good ones bring a worker back."""

from __future__ import annotations

import pytest

from providers.contract import Health
from router.policy.health import Standing, after

GOOD, BAD = Health(reachable=True, ready=True), Health(reachable=False, ready=False)


@pytest.mark.parametrize(
    ("probes", "up"),
    [
        ("", None),
        ("g", True),
        ("b", None),
        ("bb", None),
        ("bbb", False),
        ("gb", True),
        ("gbb", True),
        ("gbbb", False),
        ("gbbgbb", True),
        ("gbbbg", False),
        ("gbbbgg", True),
        ("gbbbgbg", False),
        ("bg", True),
        ("bbbg", False),
        ("bbbgg", True),
    ],
)
def test_a_row_of_probes(probes: str, up: bool | None) -> None:
    standing = Standing()
    for probe in probes:
        standing = after(standing, GOOD if probe == "g" else BAD)
    assert standing.up is up
