"""A scrape as a Prometheus server sees it."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from router.telemetry.events import Event
from router.telemetry.labels import Labels
from router.telemetry.otel import Telemetry, open_telemetry
from tests.telemetry.scenes import LABELS


def samples(telemetry: Telemetry) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample by its name and labels."""
    return {(one.name, frozenset(one.labels.items())): one.value for one in _samples(telemetry)}


def told(
    events: Iterable[Event], labels: Labels = LABELS
) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """What a scrape says after these events."""
    with open_telemetry("spillover", 1.0, "r1", labels) as telemetry:
        for event in events:
            telemetry.record(event)
        return samples(telemetry)


def sample(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """The key of one sample."""
    return name, frozenset(labels.items())


def _samples(telemetry: Telemetry) -> Iterable[Sample]:
    for family in text_string_to_metric_families(telemetry.prometheus().decode()):
        yield from family.samples
