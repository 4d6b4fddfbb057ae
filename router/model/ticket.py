"""One accepted generation, on its way to an answer."""

from __future__ import annotations

from dataclasses import dataclass

from providers.contract import Generation


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose request it is, and what may be done with it."""

    name: str
    external: bool = True
    allow_double_spend: bool = False


@dataclass(frozen=True, slots=True)
class Ticket:
    """Made once at admission and never changed. `arrived` and `deadline` are seconds of store time.

    `joinable`: a re-post by the client's SDK may join this ticket, so a disconnect does not end it.
    """

    id: str
    generation: Generation
    tenant: Tenant
    request_class: str
    arrived: float
    deadline: float
    request_id: str = ""
    joinable: bool = False
    traceparent: str | None = None
