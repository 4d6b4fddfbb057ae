"""From a generation to a ticket: which class it is of, and by when its answer must be out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from config.problems import did_you_mean
from config.schema import Config
from providers.contract import Generation
from router.api.refusals import invalid
from router.api.tenants import Caller
from router.model.ticket import Ticket

DEADLINE = b"spillover-deadline"
CLASS = b"spillover-class"
SDK_TIMEOUT = b"x-stainless-read-timeout"
SDK_TRY = b"x-stainless-retry-count"

_NUMBER = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class Tickets:
    """Makes tickets. `new_id` gives each its id."""

    config: Config
    new_id: Callable[[], str]

    def ticket(
        self,
        generation: Generation,
        caller: Caller,
        headers: Mapping[bytes, bytes],
        request_id: str,
        now: float,
        traceparent: str | None,
    ) -> Ticket:
        """A ticket that arrives at `now` (store time); raises a `Refusal`."""
        name = self._class(headers.get(CLASS), caller)
        return Ticket(
            id=self.new_id(),
            generation=generation,
            tenant=caller.tenant,
            request_class=name,
            arrived=now,
            deadline=now + self._allowed_s(headers, name),
            request_id=request_id,
            joinable=SDK_TRY in headers,
            traceparent=traceparent,
        )

    def _class(self, asked: bytes | None, caller: Caller) -> str:
        if asked is None:
            return caller.request_class
        name = asked.decode("latin-1")
        if name not in self.config.classes:
            hint = did_you_mean(name, self.config.classes) or f"one of {', '.join(self.config.classes)}."
            raise invalid("Spillover-Class", f"names no class: {hint}")
        return name

    def _allowed_s(self, headers: Mapping[bytes, bytes], name: str) -> float:
        longest = self.config.limits.deadline_s
        asked = headers.get(DEADLINE)
        if asked is None:
            allowed = min(self.config.classes[name].deadline_s, longest)
        else:
            allowed = float(asked) if _NUMBER.fullmatch(asked) else math.nan
            if not 0 < allowed <= longest:
                raise invalid(
                    "Spillover-Deadline", f"must be seconds from now, above 0 and at most {longest:g}."
                )
        return min(allowed, _client_waits(headers.get(SDK_TIMEOUT)))


def retries(headers: Mapping[bytes, bytes]) -> int:
    """How often the client's SDK has sent this request before."""
    sent = headers.get(SDK_TRY, b"")
    return int(sent) if sent.isdigit() and len(sent) < 4 else 0


def _client_waits(sent: bytes | None) -> float:
    """The answer has to be out before the client hangs up and sends the same request again."""
    if sent is None or not _NUMBER.fullmatch(sent) or not float(sent):
        return math.inf
    timeout = float(sent)
    return max(timeout - max(1.0, 0.02 * timeout), timeout / 2)
