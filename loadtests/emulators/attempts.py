"""The router's note on who asks: `Spillover-Attempt: <job>.<n>;fence=<int>`.

Real servers ignore the header. The emulators write it into their ledger and the job into the picture, so
that a test can follow one job through every server that touched it.
"""

import re
from dataclasses import dataclass

HEADER = "spillover-attempt"
_SHAPE = re.compile(r"^(?P<job>.+)\.(?P<number>\d+)(?:;fence=(?P<fence>\d+))?$")


@dataclass(frozen=True)
class Attempt:
    """One reading of the header. A header that is absent or malformed leaves the parts empty."""

    raw: str | None = None
    job: str | None = None
    number: int | None = None
    fence: int | None = None


def read_attempt(raw: str | None) -> Attempt:
    found = _SHAPE.match(raw or "")
    if found is None:
        return Attempt(raw)
    fence = found["fence"]
    return Attempt(raw, found["job"], int(found["number"]), int(fence) if fence else None)
