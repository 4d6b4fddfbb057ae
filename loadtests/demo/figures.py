"""The scene in numbers over time: for the charts and tables, made after the fact from the same evidence."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loadtests.demo.account import ClaimTimes, Evidence
from loadtests.emulators.ledger import Row

BEFORE, DRAINING, HELD, AFTER = "before", "draining", "held", "after"


@dataclass(frozen=True, slots=True)
class Sample:
    """The router's own view at one moment (`/admin/state`): for showing, never for judging."""

    at: float
    waiting: int
    leased: int
    offered: int
    ghosts: int
    free: int
    closed: int
    external_in_flight: int
    phase: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """One number for each second after `start`. `spend_usd` is the provider's bill so far."""

    start: float
    arrivals: tuple[int, ...]
    onprem: tuple[int, ...]
    external: tuple[int, ...]
    spend_usd: tuple[float, ...]

    @property
    def seconds(self) -> int:
        return len(self.arrivals)


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of the story, wall seconds."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from sending to the picture, of the requests of some classes sent during one stretch."""

    name: str
    classes: str
    count: int
    p50: float
    p90: float
    p99: float
    most: float


def timeline_of(seen: Evidence) -> Timeline:
    """Counts by second. An image stands in the second in which it was made."""
    start = min((receipt.sent_at for receipt in seen.receipts), default=0.0)
    end = max((receipt.ended_at for receipt in seen.receipts), default=start)
    seconds = max(1, math.ceil(end - start))
    onprem = [row["wall"] for row in made_onprem(seen.worker_rows)]
    external = [row["wall"] for row in made_external(seen.provider_rows)]
    per_second = _counted(external, start, seconds)
    return Timeline(
        start=start,
        arrivals=_counted((receipt.sent_at for receipt in seen.receipts), start, seconds),
        onprem=_counted(onprem, start, seconds),
        external=per_second,
        spend_usd=tuple(sum(per_second[: second + 1]) * seen.usd_each for second in range(seconds)),
    )


def made_onprem(worker_rows: Iterable[Row]) -> Iterator[Row]:
    """Images that a worker delivered."""
    return (row for row in worker_rows if row["kind"] == "delivered" and row["status"] == 200)


def made_external(provider_rows: Iterable[Row]) -> Iterator[Row]:
    """Images that the provider billed."""
    return (row for row in provider_rows if row["kind"] == "billed")


def bands_of(claim: ClaimTimes, start: float, end: float) -> tuple[Band, ...]:
    """The stretches of the story, in order; those that were never reached are left out."""
    held = claim.held_at if claim.held_at is not None else end
    released = claim.released_at if claim.released_at is not None else end
    moments = (start, claim.drain_at, min(held, released), released, end)
    names = (BEFORE, DRAINING, HELD, AFTER)
    bands = (Band(name, moments[place], moments[place + 1]) for place, name in enumerate(names))
    return tuple(band for band in bands if band.end > band.start)


def latencies_of(seen: Evidence, bands: Sequence[Band]) -> tuple[Latency, ...]:
    """By class, and by the stretch in which a request was sent; valid answers only."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for receipt in seen.receipts:
        name = next((band.name for band in bands if band.start <= receipt.sent_at < band.end), AFTER)
        if receipt.valid:
            seconds[receipt.request_class, name].append(receipt.seconds)
    return tuple(
        _latency(request_class, band.name, sorted(seconds[request_class, band.name]))
        for request_class in sorted({request_class for request_class, _ in seconds}, key=_by_patience)
        for band in bands
        if (request_class, band.name) in seconds
    )


def _by_patience(request_class: str) -> int:
    """Impatient first."""
    return ("interactive", "standard", "batch").index(request_class)


def _latency(request_class: str, name: str, ordered: Sequence[float]) -> Latency:
    return Latency(name, request_class, len(ordered), *_percentiles(ordered), ordered[-1])


def _percentiles(ordered: Sequence[float]) -> tuple[float, float, float]:
    p50, p90, p99 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99))
    return p50, p90, p99


def _counted(moments: Iterable[float], start: float, seconds: int) -> tuple[int, ...]:
    counts = [0] * seconds
    for moment in moments:
        if moment >= start:
            counts[min(int(moment - start), seconds - 1)] += 1
    return tuple(counts)
