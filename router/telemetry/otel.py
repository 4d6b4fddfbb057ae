"""The only file that knows the OpenTelemetry SDK: where metrics and spans go, and how that ends.

`/metrics` is always there. OTLP over HTTP is on where the standard variables name an endpoint;
`OTEL_TRACES_EXPORTER=console` prints spans. No global provider is set: FastAPI would start telemetry of its
own.

Distributions are plain buckets (`counting.py`) put beside what the SDK collected, the part that the
specification gives a MetricProducer, which the SDK for Python lacks. An SDK histogram costs 15 microseconds a
value, and exponential buckets, which an environment variable can switch on, would break every scrape.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider, ObservableCounter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricReader,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from router.telemetry.counting import Counter, Distribution
from router.telemetry.decision_log import DecisionLog
from router.telemetry.events import Event, Record
from router.telemetry.gauges import GAUGES, Gauge, Gauges
from router.telemetry.instruments import Instruments
from router.telemetry.labels import Labels
from router.telemetry.spans import Spans

SHUTDOWN_S = 2.0
"""All exporters together get this long to send what they have; then the process ends without them."""
MAX_SERIES = 50_000
"""Above what allow-listed labels come to; the SDK would fold series beyond 2,000 into one."""
SCOPE = "spillover"
METRICS_CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

log = logging.getLogger("spillover.telemetry")


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What the router is given: where events go, where spans come from, what `/metrics` says."""

    record: Record
    spans: Spans
    prometheus: Callable[[], bytes]
    set_gauges: Callable[[Gauges], None]
    content_type: str = METRICS_CONTENT_TYPE


@contextmanager
def open_telemetry(
    service_name: str,
    sample_ratio: float,
    replica: str,
    labels: Labels,
    providers: Mapping[str, str] | None = None,
) -> Iterator[Telemetry]:
    """Telemetry of one replica. Leaving sends what is left, and takes `SHUTDOWN_S` at most.

    `providers` names who is behind each external pool, for spans; without a name it is the pool's.
    """
    resource = Resource.create(
        {
            "service.name": service_name,
            "service.version": _version(),
            "service.instance.id": replica,
        }
    )
    instruments = Instruments(labels)
    decisions = DecisionLog()
    metrics = _Metrics(resource, instruments)
    tracing = _tracing(resource, sample_ratio)

    def record(event: Event) -> None:
        instruments.record(event)
        decisions.record(event)

    tracer = tracing.get_tracer(SCOPE) if tracing is not None else None
    try:
        yield Telemetry(record, Spans(tracer, providers or {}), metrics.exposition, metrics.set_gauges)
    finally:
        _end([metrics.shutdown, *([tracing.shutdown] if tracing is not None else [])])


class _Metrics:
    """Where the numbers are collected: the Prometheus text on demand, OTLP on a timer."""

    def __init__(self, resource: Resource, instruments: Instruments) -> None:
        self._gauges: Gauges | None = None
        self._scraping = threading.Lock()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        distributions = _Distributions(instruments.distributions)
        readers: list[MetricReader] = [_Prometheus(self._registry, distributions)]
        if _otlp("METRICS"):
            readers.append(_Otlp(distributions))
        self._provider = MeterProvider(readers, resource, shutdown_on_exit=False)
        meter = self._provider.get_meter(SCOPE)
        for counter in instruments.counters:
            _observe_counter(meter, counter)
        for gauge in GAUGES:
            self._observe_gauge(meter, gauge)

    def set_gauges(self, gauges: Gauges) -> None:
        """Replaces the picture that scrapes show."""
        self._gauges = gauges

    def exposition(self) -> bytes:
        """The text of `/metrics`. Takes milliseconds and asks nobody; may be called from any thread."""
        with self._scraping:  # the exporter's collector mixes up two scrapes at once
            return generate_latest(self._registry)

    def shutdown(self) -> None:
        self._provider.shutdown(timeout_millis=SHUTDOWN_S * 1000)

    def _observe_gauge(self, meter: Meter, gauge: Gauge) -> None:
        def observe(_: CallbackOptions) -> Iterator[Observation]:
            if (now := self._gauges) is not None:
                for labels, value in gauge.read(now, time.monotonic()):
                    yield Observation(value, labels)

        spec = gauge.spec
        meter.create_observable_gauge(spec.name, [observe], spec.unit, spec.help)


def _observe_counter(meter: Meter, counter: Counter) -> None:
    def observe(_: CallbackOptions) -> Iterator[Observation]:
        for labels, value in counter.read():
            yield Observation(value, labels)

    spec = counter.spec
    meter.create_observable_counter(spec.name, [observe], spec.unit, spec.help)


class _Distributions:
    """Puts the distributions beside the metrics the SDK collected."""

    def __init__(self, distributions: list[Distribution]) -> None:
        self._distributions = distributions
        self._since = time.time_ns()

    def beside(self, data: MetricsData) -> MetricsData:
        now = time.time_ns()
        ours = [metric for one in self._distributions if (metric := self._metric(one, now)) is not None]
        return MetricsData(
            [
                replace(
                    resource,
                    scope_metrics=[
                        replace(scope, metrics=[*scope.metrics, *ours])
                        if scope.scope.name == SCOPE
                        else scope
                        for scope in resource.scope_metrics
                    ],
                )
                for resource in data.resource_metrics
            ]
        )

    def _metric(self, distribution: Distribution, now: int) -> Metric | None:
        spec = distribution.spec
        points = [
            HistogramDataPoint(
                attributes=labels,
                start_time_unix_nano=self._since,
                time_unix_nano=now,
                count=sum(bins.counts),
                sum=bins.total,
                bucket_counts=bins.counts,
                explicit_bounds=spec.bounds,
                min=bins.least,
                max=bins.most,
            )
            for labels, bins in distribution.read()
        ]
        if not points:
            return None
        return Metric(spec.name, spec.help, spec.unit, Histogram(points, AggregationTemporality.CUMULATIVE))


class _Prometheus(PrometheusMetricReader):
    def __init__(self, registry: CollectorRegistry, distributions: _Distributions) -> None:
        super().__init__(
            scope_info_enabled=False, registry=registry, cardinality_limits={ObservableCounter: MAX_SERIES}
        )
        self._distributions = distributions

    def _receive_metrics(self, metrics_data: MetricsData, *args: Any, **kwargs: Any) -> None:
        super()._receive_metrics(self._distributions.beside(metrics_data), *args, **kwargs)


class _Otlp(PeriodicExportingMetricReader):
    def __init__(self, distributions: _Distributions) -> None:
        self._distributions = distributions
        super().__init__(OTLPMetricExporter())

    def _receive_metrics(self, metrics_data: MetricsData, *args: Any, **kwargs: Any) -> None:
        super()._receive_metrics(self._distributions.beside(metrics_data), *args, **kwargs)


def _tracing(resource: Resource, sample_ratio: float) -> TracerProvider | None:
    """`None` where spans go nowhere: then none are made, and the callers' ids are passed on."""
    exporters = list(_span_exporters())
    if not exporters or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    provider = TracerProvider(ParentBased(TraceIdRatioBased(sample_ratio)), resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _span_exporters() -> Iterator[SpanExporter]:
    wanted = {word.strip() for word in os.environ.get("OTEL_TRACES_EXPORTER", "otlp").split(",")}
    if "console" in wanted:
        yield ConsoleSpanExporter()
    if "otlp" in wanted and _otlp("TRACES"):
        yield OTLPSpanExporter()


def _otlp(signal: str) -> bool:
    """Do the standard variables name an endpoint for this signal?"""
    if os.environ.get(f"OTEL_{signal}_EXPORTER", "otlp").strip() == "none":
        return False
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return any(os.environ.get(name) for name in names)


def _version() -> str:
    try:
        return version("spillover")
    except PackageNotFoundError:  # run from a source tree
        return "0"


def _end(endings: list[Callable[[], None]]) -> None:
    """Runs all endings at once and waits `SHUTDOWN_S` at most: a collector that hangs delays no exit."""
    threads = [threading.Thread(target=_quietly, args=(ending,), daemon=True) for ending in endings]
    until = time.monotonic() + SHUTDOWN_S
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _quietly(ending: Callable[[], None]) -> None:
    try:
        ending()
    except Exception as error:  # the SDK raises bare `Exception`s for an exporter that did not end in time
        log.warning("telemetry did not end well: %s", type(error).__name__)
