"""OTLP goes where the standard variables say, and a collector that hangs delays no exit."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from opentelemetry import metrics, trace
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from router.telemetry.otel import SHUTDOWN_S, open_telemetry
from tests.repo.tree import ROOT
from tests.telemetry.collector import black_hole, collector
from tests.telemetry.scenes import EVENTS, LABELS
from tests.telemetry.test_spans import PARENT, ticket

ONE_SPAN = """
import time
from router.telemetry import events
from router.telemetry.labels import Labels
from router.telemetry.otel import open_telemetry
with open_telemetry("spillover", 1.0, "r1", Labels()) as telemetry:
    with telemetry.spans.server("POST", "/x") as span:
        telemetry.record(events.LoopLagged(0.5))
    print(span.trace_id, time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
"""


def one_span() -> None:
    """One replica's life with one span in it."""
    with (
        open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry,
        telemetry.spans.server("POST", "/x"),
    ):
        pass


def test_a_collector_receives_spans_and_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
            for event in EVENTS:
                telemetry.record(event)
            with telemetry.spans.attempt(ticket(PARENT), "home", "w1"):
                pass
    (spans,) = ExportTraceServiceRequest.FromString(kept.all("/v1/traces")).resource_spans
    assert [span.name for scope in spans.scope_spans for span in scope.spans] == ["generate_content krea"]
    resource = {one.key: one.value.string_value for one in spans.resource.attributes}
    assert (resource["service.name"], resource["service.instance.id"]) == ("spillover", "r1")
    (numbers,) = ExportMetricsServiceRequest.FromString(kept.all("/v1/metrics")).resource_metrics
    received = {metric.name: metric for scope in numbers.scope_metrics for metric in scope.metrics}
    assert received["spillover.ghosts.ended"].sum.is_monotonic
    (waited,) = received["spillover.slot.wait.duration"].histogram.data_points
    assert (waited.count, waited.sum, sum(waited.bucket_counts)) == (1, 0.3, 1)
    assert 0 < waited.start_time_unix_nano < waited.time_unix_nano
    assert b"canary-prompt" not in kept.all("/v1/traces") + kept.all("/v1/metrics")


def test_each_signal_has_its_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{kept.url}/spans")
        one_span()
    assert set(kept.received) == {"/spans"}


@pytest.mark.parametrize(("signal", "path"), [("TRACES", "/v1/metrics"), ("METRICS", "/v1/traces")])
def test_a_signal_can_be_off(monkeypatch: pytest.MonkeyPatch, signal: str, path: str) -> None:
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        monkeypatch.setenv(f"OTEL_{signal}_EXPORTER", "none")
        one_span()
    assert set(kept.received) == {path}


def test_the_sdk_can_be_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
        with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
            telemetry.record(EVENTS[0])
            with telemetry.spans.server("POST", "/x", PARENT) as server:
                assert server.traceparent == PARENT
            assert b"spillover_" not in telemetry.prometheus()
    assert kept.received == {}


def test_no_global_provider_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        with open_telemetry("spillover", 1.0, "r1", LABELS):
            assert type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider"
            assert type(metrics.get_meter_provider()).__name__ == "_ProxyMeterProvider"


@pytest.mark.parametrize("where", ["a black hole", "a closed port"])
def test_a_dead_collector_does_not_delay_the_exit(where: str) -> None:
    with black_hole() as url:
        endpoint = url if where == "a black hole" else "http://127.0.0.1:9"
        run = subprocess.run(
            [sys.executable, "-c", ONE_SPAN],
            cwd=ROOT,
            env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        ended = time.clock_gettime(time.CLOCK_MONOTONIC)
    assert ended - float(run.stdout.split()[1]) < SHUTDOWN_S + 1.0


def test_spans_can_be_printed() -> None:
    run = subprocess.run(
        [sys.executable, "-c", ONE_SPAN],
        cwd=ROOT,
        env={"OTEL_TRACES_EXPORTER": "console", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    trace_id = run.stdout.split()[0]
    assert f'"trace_id": "0x{trace_id}"' in run.stdout
    assert '"name": "POST /x"' in run.stdout
