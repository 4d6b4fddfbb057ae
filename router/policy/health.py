"""What a row of probes says about a worker."""

from __future__ import annotations

from dataclasses import dataclass, replace

from providers.contract import Health

FAILURES_TO_EJECT = 3
SUCCESSES_TO_RETURN = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """`up`: it takes work; `None` before the first verdict: it is what it was. `good`, `bad`: in a row."""

    up: bool | None = None
    good: int = 0
    bad: int = 0


def after(standing: Standing, health: Health) -> Standing:
    """The standing after one more probe.

    A worker never seen before is up at its first good probe. One bad probe ejects nobody, also if it is the
    first one of a new leader: a busy server may be slow to answer (failure row W9). Three in a row do, and
    then two good ones bring it back.
    """
    if health.ready:
        good = standing.good + 1
        back = standing.up is None or good >= SUCCESSES_TO_RETURN
        return Standing(True if back else standing.up, good, 0)
    bad = standing.bad + 1
    if bad >= FAILURES_TO_EJECT:
        return Standing(False, 0, bad)
    return replace(standing, good=0, bad=bad)
