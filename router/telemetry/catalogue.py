"""Writes the page of all metrics: `python -m router.telemetry.catalogue > docs/metrics.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from router.telemetry.counting import Spec
from router.telemetry.gauges import GAUGES
from router.telemetry.instruments import Instruments
from router.telemetry.labels import Labels

HEAD = """\
# Metrics

What `/metrics` says; OTLP carries the same under the names with dots. Label values are words of the
configuration and of the program: anything else becomes `other`, an empty word `none`. Beside these stand
`target_info` and the `process_*` numbers of the Prometheus client. This page is written by
`python -m router.telemetry.catalogue`, and a test compares it with a live scrape.

| metric | OpenTelemetry | type | labels | what it says |
|---|---|---|---|---|
"""
SUFFIX = {"s": "_seconds", "usd": "_usd", "1": ""}


def page() -> str:
    """The page in Markdown."""
    return HEAD + "".join(_row(spec, kind) for spec, kind in specs())


def specs() -> Iterator[tuple[Spec, str]]:
    """Every metric and its Prometheus type, in the order of the page."""
    instruments = Instruments(Labels())
    yield from ((counter.spec, "counter") for counter in instruments.counters)
    yield from ((distribution.spec, "histogram") for distribution in instruments.distributions)
    yield from ((gauge.spec, "gauge") for gauge in GAUGES)


def prometheus_name(spec: Spec, kind: str) -> str:
    """The name in the Prometheus text, as the exporter makes it."""
    return spec.name.replace(".", "_") + SUFFIX[spec.unit] + ("_total" if kind == "counter" else "")


def _row(spec: Spec, kind: str) -> str:
    shown = (f"`{prometheus_name(spec, kind)}`", f"`{spec.name}`", kind, _listed(spec.labels), spec.help)
    return f"| {' | '.join(shown)} |\n"


def _listed(labels: tuple[str, ...]) -> str:
    return ", ".join(f"`{label}`" for label in labels)


if __name__ == "__main__":
    sys.stdout.write(page())
