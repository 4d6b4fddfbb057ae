"""Three kinds of spans, one decision about sampling, and ids that are passed on either way."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind, StatusCode

from providers.contract import Failed, Fault, Generation, Image, Produced
from router.model.ticket import Tenant, Ticket
from router.telemetry.logs import JsonLines
from router.telemetry.spans import Spans

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = PARENT[:-2] + "00"
SHAPE = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]")
IMAGE = Image("aGk=", "image/png", 1, 1)


def ticket(traceparent: str | None, count: int = 1) -> Ticket:
    generation = Generation("krea", "canary-prompt", 512, 512, 8, count=count)
    return Ticket("job-1", generation, Tenant("acme"), "standard", 0.0, 9.0, traceparent=traceparent)


class Tracing:
    """A tracer at one ratio, and the spans that ended."""

    def __init__(self, ratio: float) -> None:
        self._kept = InMemorySpanExporter()
        self._provider = TracerProvider(ParentBased(TraceIdRatioBased(ratio)), shutdown_on_exit=False)
        self._provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.spans = Spans(self._provider.get_tracer("test"), {"fal": "fal.ai"})

    @property
    def ended(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._kept.get_finished_spans()}

    def close(self) -> None:
        self._provider.shutdown()


@pytest.fixture
def traced() -> Iterator[Tracing]:
    tracing = Tracing(1.0)
    yield tracing
    tracing.close()


@pytest.fixture
def unsampled() -> Iterator[Tracing]:
    tracing = Tracing(0.0)
    yield tracing
    tracing.close()


def test_a_request_its_dispatch_and_its_attempts_are_one_tree(traced: Tracing) -> None:
    with traced.spans.server("POST", "/v1/images/generations", PARENT, "vendor=1") as server:
        with (
            traced.spans.dispatch(ticket(server.traceparent)) as dispatch,
            traced.spans.attempt(ticket(dispatch.traceparent, count=3), "home", "w1") as attempt,
        ):
            outgoing = attempt.traceparent
            attempt.ended(Produced((IMAGE,)))
        server.answered(200)
    spans = traced.ended
    root, middle, leaf = (
        spans["POST /v1/images/generations"],
        spans["dispatch"],
        spans["generate_content krea"],
    )
    assert (root.kind, middle.kind, leaf.kind) == (SpanKind.SERVER, SpanKind.INTERNAL, SpanKind.CLIENT)
    assert {f"{span.context.trace_id:032x}" for span in (root, middle, leaf)} == {PARENT[3:35]}
    assert f"{root.parent.span_id:016x}" == PARENT[36:52]
    assert (middle.parent.span_id, leaf.parent.span_id) == (root.context.span_id, middle.context.span_id)
    assert outgoing == f"00-{PARENT[3:35]}-{leaf.context.span_id:016x}-01"
    assert root.context.trace_state["vendor"] == "1"


def test_attempts_have_the_names_of_the_conventions(traced: Tracing) -> None:
    with traced.spans.attempt(ticket(PARENT, count=3), "home", "w1") as attempt:
        attempt.ended(Produced((IMAGE, IMAGE)))
    attributes = dict(traced.ended["generate_content krea"].attributes)
    assert attributes == {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.output.type": "image",
        "gen_ai.provider.name": "spillover.onprem",
        "gen_ai.request.model": "krea",
        "gen_ai.request.choice.count": 3,
        "spillover.job": "job-1",
        "spillover.pool": "home",
        "spillover.worker": "w1",
        "spillover.usage.images": 2,
    }


@pytest.mark.parametrize(("pool", "provider"), [("fal", "fal.ai"), ("other-account", "other-account")])
def test_an_external_attempt_names_its_provider(traced: Tracing, pool: str, provider: str) -> None:
    with traced.spans.attempt(ticket(PARENT), pool, ""):
        pass
    attributes = traced.ended["generate_content krea"].attributes
    assert attributes["gen_ai.provider.name"] == provider
    assert "spillover.worker" not in attributes
    assert "gen_ai.request.choice.count" not in attributes


def test_a_failed_attempt_is_an_error_with_a_machine_word(traced: Tracing) -> None:
    with traced.spans.attempt(ticket(PARENT), "home", "w1") as attempt:
        attempt.ended(Failed(Fault.FAILED_KNOWN, "out_of_memory", "canary-detail"))
    span = traced.ended["generate_content krea"]
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "out_of_memory"
    assert span.attributes["spillover.fault"] == "failed_known"
    assert "canary" not in span.to_json()


def test_an_exception_is_told_by_its_type_alone(traced: Tracing) -> None:
    with pytest.raises(ValueError), traced.spans.dispatch(ticket(PARENT)):
        raise ValueError("canary-prompt")
    span = traced.ended["dispatch"]
    assert span.attributes["error.type"] == "ValueError"
    assert span.events == ()
    assert "canary" not in span.to_json()


@pytest.mark.parametrize(("status", "failed"), [(200, False), (429, False), (502, True)])
def test_a_server_span_fails_with_the_server(traced: Tracing, status: int, failed: bool) -> None:
    with traced.spans.server("POST", "/x") as server:
        server.note(attempts=2, route="onprem")
        server.answered(status)
    span = traced.ended["POST /x"]
    assert (span.status.status_code is StatusCode.ERROR) is failed
    assert span.attributes["http.response.status_code"] == status
    assert (span.attributes["spillover.attempts"], span.attributes["spillover.route"]) == (2, "onprem")


def test_a_request_that_is_not_sampled_makes_no_spans_and_keeps_its_ids(unsampled: Tracing) -> None:
    with (
        unsampled.spans.server("POST", "/x") as server,
        unsampled.spans.dispatch(ticket(server.traceparent)) as dispatch,
        unsampled.spans.attempt(ticket(dispatch.traceparent), "home", "w1") as attempt,
    ):
        attempt.note(x=1)
        attempt.ended(Failed(Fault.REFUSED, "busy"))
        server.answered(500)
    assert SHAPE.fullmatch(server.traceparent)
    assert server.traceparent.endswith("-00")
    assert server.traceparent == dispatch.traceparent == attempt.traceparent
    assert unsampled.ended == {}


def test_the_caller_decides_where_it_said_something(traced: Tracing, unsampled: Tracing) -> None:
    with traced.spans.server("POST", "/x", UNSAMPLED) as server:
        assert server.traceparent.endswith("-00")
    with unsampled.spans.server("POST", "/x", PARENT) as server:
        assert server.traceparent.endswith("-01")
        assert server.trace_id == PARENT[3:35]
        assert server.span_id != PARENT[36:52]
    assert traced.ended == {}
    assert set(unsampled.ended) == {"POST /x"}


def test_without_a_tracer_ids_are_passed_on_or_made() -> None:
    spans = Spans()
    with spans.server("POST", "/x", PARENT) as server:
        assert server.traceparent == PARENT
        with spans.attempt(ticket(server.traceparent), "home", "w1") as attempt:
            assert attempt.traceparent == PARENT
    with spans.server("POST", "/x") as one, spans.server("POST", "/x") as other:
        assert SHAPE.fullmatch(one.traceparent)
        assert one.trace_id != other.trace_id
        assert one.traceparent.endswith("-00")


@pytest.mark.parametrize(
    "malformed",
    [
        "",
        "x",
        PARENT.upper() + "-zz",
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "ff" + PARENT[2:],
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
        PARENT + "\r\nX-Evil: 1",
        "00-é-é-01",
    ],
)
def test_a_malformed_traceparent_is_no_traceparent(malformed: str) -> None:
    with Spans().server("POST", "/x", malformed) as server:
        assert SHAPE.fullmatch(server.traceparent)
        assert server.trace_id != PARENT[3:35]


def test_log_lines_name_the_trace(traced: Tracing) -> None:
    def line() -> dict[str, str]:
        told: dict[str, str] = json.loads(JsonLines().format(logging.makeLogRecord({"msg": "x"})))
        return told

    with traced.spans.server("POST", "/x", PARENT) as server:
        assert (line()["trace_id"], line()["span_id"]) == (server.trace_id, server.span_id)
        with traced.spans.dispatch(ticket(server.traceparent)) as dispatch:
            assert line()["span_id"] == dispatch.span_id
        assert line()["span_id"] == server.span_id
    with Spans().server("POST", "/x", PARENT):
        assert line()["trace_id"] == PARENT[3:35]
    assert "trace_id" not in line()


def test_a_ticket_without_ids_is_not_traced(traced: Tracing) -> None:
    with traced.spans.dispatch(ticket(None)) as dispatch:
        assert SHAPE.fullmatch(dispatch.traceparent)
    assert traced.ended == {}
