"""Hands a ticket to the desk, unless it repeats one that is on its way: then it is joined."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from router.api.bodies import CLOSE
from router.api.gate import Gate
from router.api.refusals import Refusal
from router.api.tenants import Caller
from router.api.tickets import SDK_TRY, retries
from router.model.ticket import Ticket
from router.serving.run import Run
from router.telemetry.events import Admitted


@dataclass(frozen=True, slots=True)
class Twin:
    """What a re-post by the client's SDK has in common with the request it repeats. `repeats`: is it one?"""

    key: str
    repeats: bool


def twin_of(caller: Caller, body: bytes, headers: Mapping[bytes, bytes]) -> Twin | None:
    """`None` for clients whose requests cannot be told from new ones."""
    if SDK_TRY not in headers:
        return None
    digest = hashlib.sha256(caller.key_id.encode("ascii") + b"\0" + body)
    return Twin(digest.hexdigest(), retries(headers) >= 1)


def joined(gate: Gate, twin: Twin | None) -> Run | None:
    """The run that this request repeats. It is in this replica's memory, so no store is needed."""
    return gate.desk.twin_of(twin.key) if twin is not None and twin.repeats else None


def submitted(gate: Gate, ticket: Ticket, twin: Twin | None) -> Run:
    """A new run; raises a `Refusal` where this replica cannot take it."""
    run = gate.desk.submit(ticket, twin.key if twin is not None else None)
    if run is None:
        raise Refusal("overloaded")
    admitted = Admitted(
        ticket.id, ticket.request_id, ticket.tenant.name, ticket.generation.model, ticket.request_class
    )
    gate.record(admitted)
    return run


def check_open(gate: Gate) -> None:
    """Raises a `Refusal` where new work cannot be taken. Asks the store for nothing."""
    if not gate.drain.accepting:
        raise Refusal("draining", headers=CLOSE)
    if not gate.sees_the_store:
        raise Refusal("state_store_unavailable")
