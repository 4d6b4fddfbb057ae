"""Spans: one for a request, one for its dispatch, one for each attempt. And the ids that go with a request.

Whether a request is traced is decided once, with its first span, and stands in its `traceparent`. For one
that is not, no further span objects are made, and its ids are passed on. Baggage of callers is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from secrets import randbits

from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    get_current_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from providers.contract import Failed, Outcome, Produced
from router.model.ticket import Ticket
from router.telemetry.logs import bound

# Names of the conventions for generative AI, which are in development: copied, and pinned by a test. They
# have no operation for images.
OPERATION = "gen_ai.operation.name"
OUTPUT_TYPE = "gen_ai.output.type"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
CHOICES = "gen_ai.request.choice.count"
ERROR = "error.type"
ONPREM = "spillover.onprem"

_w3c = TraceContextTextMapPropagator()
_OURS = re.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-(?P<flags>0[01])")
"""What `_written` makes, and a ticket carries."""


class Traced:
    """One span, or the ids of a request that is not traced. `traceparent` is for whoever is called next."""

    __slots__ = ("_span", "span_id", "trace_id", "traceparent")

    def __init__(self, traceparent: str, span: Span | None = None) -> None:
        self._span = span
        self.traceparent = traceparent
        self.trace_id, self.span_id = traceparent[3:35], traceparent[36:52]

    def note(self, **attributes: AttributeValue) -> None:
        """Attributes of our own: ids, words and numbers. `queued_s=1` becomes `spillover.queued_s`."""
        if self._span is not None:
            self._span.set_attributes({f"spillover.{name}": value for name, value in attributes.items()})

    def answered(self, status: int) -> None:
        """The HTTP status of the answer."""
        if self._span is not None:
            self._span.set_attribute("http.response.status_code", status)
            if status >= 500:
                self.failed(str(status))

    def ended(self, outcome: Outcome) -> None:
        """What an attempt came to."""
        match outcome:
            case Produced(images=images):
                self.note(**{"usage.images": len(images)})
            case Failed(fault=fault, code=code):
                self.note(fault=str(fault))
                self.failed(code)

    def failed(self, code: str) -> None:
        """Marks the span as failed, with a machine word."""
        if self._span is not None:
            self._span.set_attribute(ERROR, code)
            self._span.set_status(StatusCode.ERROR)


class Spans:
    """Makes the spans of one replica. Without a tracer none are made, and ids are passed on."""

    def __init__(self, tracer: Tracer | None = None, providers: Mapping[str, str] | None = None) -> None:
        self._tracer = tracer
        self._providers = providers or {}

    @contextmanager
    def server(
        self, method: str, route: str, traceparent: str | None = None, tracestate: str | None = None
    ) -> Iterator[Traced]:
        """A request, from its headers to its answer. `route` is the pattern of the path, not the path."""
        parent = _extracted(traceparent, tracestate)
        if self._tracer is None:
            with _about(Traced(_written(_ids(parent)))) as traced:
                yield traced
            return
        attributes = {"http.request.method": method, "http.route": route}
        span = self._tracer.start_span(f"{method} {route}", parent, SpanKind.SERVER, attributes)
        with _running(span) as traced:
            yield traced

    @contextmanager
    def dispatch(self, ticket: Ticket) -> Iterator[Traced]:
        """A ticket, from admission to its answer."""
        attributes = {
            "spillover.job": ticket.id,
            "spillover.tenant": ticket.tenant.name,
            "spillover.request_class": ticket.request_class,
        }
        with self._below(ticket.traceparent, "dispatch", SpanKind.INTERNAL, attributes) as traced:
            yield traced

    @contextmanager
    def attempt(self, ticket: Ticket, pool: str, worker: str) -> Iterator[Traced]:
        """One call to one back end; `worker` is empty for an external pool."""
        model, count = ticket.generation.model, ticket.generation.count
        attributes: dict[str, AttributeValue] = {
            OPERATION: "generate_content",
            OUTPUT_TYPE: "image",
            PROVIDER: ONPREM if worker else self._providers.get(pool, pool),
            MODEL: model,
            "spillover.job": ticket.id,
            "spillover.pool": pool,
        }
        if worker:
            attributes["spillover.worker"] = worker
        if count != 1:
            attributes[CHOICES] = count
        name = f"generate_content {model}"
        with self._below(ticket.traceparent, name, SpanKind.CLIENT, attributes) as traced:
            yield traced

    @contextmanager
    def _below(
        self, traceparent: str | None, name: str, kind: SpanKind, attributes: Mapping[str, AttributeValue]
    ) -> Iterator[Traced]:
        ours = _OURS.fullmatch(traceparent or "")
        if traceparent is None or ours is None:
            yield Traced(_written(_ids(Context())))
        elif self._tracer is None or ours["flags"] == "00":
            yield Traced(traceparent)
        else:
            span = self._tracer.start_span(name, _extracted(traceparent, None), kind, attributes)
            with _running(span) as traced:
                yield traced


@contextmanager
def _running(span: Span) -> Iterator[Traced]:
    """Ends the span. An exception is told by its type alone: its words may hold what a client sent."""
    traced = Traced(_written(span.get_span_context()), span if span.is_recording() else None)
    try:
        with _about(traced):
            yield traced
    except BaseException as error:
        traced.failed(type(error).__name__)
        raise
    finally:
        span.end()


@contextmanager
def _about(traced: Traced) -> Iterator[Traced]:
    """Log lines written in here name the trace."""
    with bound(trace_id=traced.trace_id, span_id=traced.span_id):
        yield traced


def _extracted(traceparent: str | None, tracestate: str | None) -> Context:
    """The caller's span, or an empty context if there is none or it is malformed."""
    if not traceparent:
        return Context()
    carrier = {"traceparent": traceparent, **({"tracestate": tracestate} if tracestate else {})}
    return _w3c.extract(carrier, Context())


def _written(context: SpanContext) -> str:
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & 1:02x}"


def _ids(parent: Context) -> SpanContext:
    """The caller's ids, or fresh ones that nobody samples."""
    found = get_current_span(parent).get_span_context()
    if found.is_valid:
        return found
    return SpanContext(randbits(128) or 1, randbits(64) or 1, is_remote=False, trace_flags=TraceFlags(0))
