"""`POST /v1/images/generations`, from the first header to the last byte: a plain ASGI callable.

headers -> key -> body under a cap -> generation -> ticket -> run -> answer, or the client leaves -> reply
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from starlette.types import Receive, Scope, Send

from router.api.answers import made, not_made
from router.api.bodies import ClientLeft, lingering, read_body
from router.api.catalogue import Catalogue
from router.api.gate import Gate
from router.api.generations import Wanted, wanted
from router.api.hearing import heard
from router.api.refusals import Refusal
from router.api.replies import Header, Reply, refused
from router.api.request_ids import REQUEST_ID
from router.api.submission import Twin, check_open, joined, submitted, twin_of
from router.api.tenants import Caller, Keyring
from router.api.tickets import Tickets
from router.model.ticket import Ticket
from router.serving.answer import Answer
from router.serving.run import Run
from router.telemetry.events import Answered, Place, Refused
from router.telemetry.logs import bound

PATH = "/v1/images/generations"
CLIENT_LEFT = 499
"""For logs and metrics only: nobody is there to read it."""

log = logging.getLogger("spillover.images")


@dataclass(slots=True)
class Visit:
    """One request as far as it has come. `arrived` is store time, `began` local monotonic.

    `refused_unread`: its body was not read to its end, and the connection closes.
    """

    request_id: str
    headers: Mapping[bytes, bytes] = field(repr=False)
    arrived: float
    began: float
    traceparent: str = ""
    tenant: str = ""
    model: str = ""
    refused_unread: bool = False


class Images:
    """The endpoint of one replica. `patience_s`: how long a body may take to arrive."""

    def __init__(self, gate: Gate, keyring: Keyring, patience_s: float = 20.0) -> None:
        self._gate = gate
        self._keyring = keyring
        self._patience_s = patience_s
        self._catalogue = Catalogue(gate.config)
        self._tickets = Tickets(gate.config, gate.new_id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        headers = dict(scope["headers"])
        clock = self._gate.clock
        visit = Visit(scope[REQUEST_ID], headers, clock.now(), clock.monotonic())
        parent = _text(headers.get(b"traceparent")), _text(headers.get(b"tracestate"))
        with bound(request_id=visit.request_id), self._gate.spans.server("POST", PATH, *parent) as span:
            visit.traceparent = span.traceparent
            reply = await self._reply(visit, scope["method"], receive)
            span.answered(reply.status if reply is not None else CLIENT_LEFT)
            if reply is not None:
                await reply.send(lingering(send, receive) if visit.refused_unread else send)

    async def _reply(self, visit: Visit, method: str, receive: Receive) -> Reply | None:
        """The reply; `None` if nobody waits for it any more."""
        try:
            return await self._carried(visit, method, receive)
        except ClientLeft:
            self._gate.record(Refused("client_left", CLIENT_LEFT, visit.tenant, visit.model))
            return None
        except Refusal as refusal:
            return self._refused(visit, refusal)
        except Exception:
            log.exception("a request failed")
            return self._refused(visit, Refusal("internal_error"))

    def _refused(self, visit: Visit, refusal: Refusal) -> Reply:
        self._gate.record(Refused(refusal.code, refusal.status, visit.tenant, visit.model))
        return refused(refusal, PATH, visit.request_id)

    async def _carried(self, visit: Visit, method: str, receive: Receive) -> Reply | None:
        if method != "POST":
            raise Refusal("method_not_allowed", headers=(("allow", "POST"),))
        caller = self._keyring.with_scope(visit.headers.get(b"authorization"), "generate")
        visit.tenant = caller.tenant.name
        body = await self._read(visit, receive)
        asked = wanted(body, self._catalogue)
        visit.model = asked.generation.model
        twin = twin_of(caller, body, visit.headers)
        extra: tuple[Header, ...] = ()
        if asked.ignored:
            extra = ((b"spillover-ignored", ", ".join(asked.ignored).encode("ascii")),)
        run = joined(self._gate, twin)
        if run is not None:
            extra = (*extra, (b"spillover-joined", b"true"))
        else:
            run = self._started(visit, caller, asked, twin)
        return await self._heard(visit, run, receive, extra)

    async def _read(self, visit: Visit, receive: Receive) -> bytes:
        try:
            return await read_body(
                visit.headers, receive, self._gate.config.limits.body_bytes, self._patience_s
            )
        except Refusal:
            visit.refused_unread = True
            raise

    def _started(self, visit: Visit, caller: Caller, asked: Wanted, twin: Twin | None) -> Run:
        ticket = self._tickets.ticket(
            asked.generation, caller, visit.headers, visit.request_id, visit.arrived, visit.traceparent
        )
        check_open(self._gate)
        # The run copies the ids that log lines carry, so they are bound before it starts.
        with bound(job_id=ticket.id):
            return submitted(self._gate, ticket, twin)

    async def _heard(
        self, visit: Visit, run: Run, receive: Receive, extra: tuple[Header, ...]
    ) -> Reply | None:
        answer = await heard(run, receive)
        if answer is None:
            self._tell(visit, run.ticket, Answer("client_left"), CLIENT_LEFT)
            return None
        if answer.images:
            created = int(self._gate.clock.now())
            reply = made(answer, run.ticket, visit.request_id, created, extra)
        else:
            param = self._to_blame(run.ticket) if answer.reason == "unsupported_parameter" else None
            reply = not_made(answer, run.ticket, PATH, visit.request_id, param, extra)
        self._tell(visit, run.ticket, answer, reply.status)
        return reply

    def _to_blame(self, ticket: Ticket) -> str | None:
        """The parameter that the model's home pool cannot honour."""
        homes = self._gate.rules.models[ticket.generation.model].homes
        return homes[0].capabilities.refuses(ticket.generation) if homes else None

    def _tell(self, visit: Visit, ticket: Ticket, answer: Answer, status: int) -> None:
        answered = Answered(
            job=ticket.id,
            tenant=visit.tenant,
            model=visit.model,
            route=cast("Place | Literal['']", answer.route),
            status=status,
            seconds=self._gate.clock.monotonic() - visit.began,
            queued_s=answer.queued_s,
            attempts=answer.attempts,
            images=len(answer.images),
            request_class=ticket.request_class,
            code=answer.reason,
        )
        self._gate.record(answered)


def _text(value: bytes | None) -> str | None:
    return value.decode("latin-1") if value is not None else None
