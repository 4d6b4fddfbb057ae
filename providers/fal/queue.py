"""The requests of the fal queue, each bounded by what is left of the attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from providers.contract import Call, Cancelled, Ended, Failed, Fault, Health, Spent
from providers.fal.settings import Settings
from providers.fal.urls import is_allowed
from providers.fal.verdict import lost_submit, refused_submit
from providers.fal.wire import Ticket, read_cancel, read_ticket, submit_body, submit_headers
from providers.http import Http, Reply, Request

CANCEL_WORDS = {
    "OK": Cancelled.CONFIRMED,  # taken out of the queue
    "CANCELLATION_REQUESTED": Cancelled.SIGNALLED,
    "ALREADY_COMPLETED": Cancelled.TOO_LATE,
    "NOT_FOUND": Cancelled.UNKNOWN,
}
CANCEL_STATUSES = {202: Cancelled.SIGNALLED, 400: Cancelled.TOO_LATE}


@dataclass(frozen=True, slots=True)
class Queue:
    """One account's queue."""

    http: Http
    base_url: str
    credential: str | None = field(repr=False)
    settings: Settings
    clock: Callable[[], float]

    async def submit(self, call: Call) -> Ticket | Failed:
        """One POST, never repeated."""
        reply = await self.http.send(
            Request(
                "POST",
                f"{self.base_url}/{call.target}",
                call.budget_s,
                submit_headers(call, self.settings) | self._authorization(),
                submit_body(call, self.settings),
                call.send_by,
            )
        )
        if isinstance(reply, Failed):
            return lost_submit(reply)
        if not 200 <= reply.status < 300:
            return refused_submit(reply)
        ticket = read_ticket(reply)
        if ticket is None:
            return Failed(Fault.AMBIGUOUS, "malformed_accept", "", Ended.UNKNOWN, Spent.POSSIBLE)
        return ticket if self.trusts(ticket) else untrusted()

    def trusts(self, ticket: Ticket) -> bool:
        """All its URLs lead to fal."""
        urls = (ticket.status_url, ticket.response_url, ticket.cancel_url)
        return all(is_allowed(url, self.base_url, self.settings.hosts) for url in urls)

    def get(self, url: str, deadline: float) -> Request | None:
        """A GET with the credential, or `None` when time is up."""
        left = deadline - self.clock()
        if left <= 0:
            return None
        return Request("GET", url, min(left, self.settings.request_s), self._authorization())

    def get_media(self, url: str, deadline: float) -> Request | None:
        """A GET of a public URL, or `None` when time is up."""
        left = deadline - self.clock()
        return None if left <= 0 else Request("GET", url, min(left, self.settings.media_s))

    async def cancel(self, ticket: Ticket) -> Cancelled:
        """Ask fal to stop. Work that runs may finish all the same."""
        request = Request("PUT", ticket.cancel_url, self.settings.request_s, self._authorization())
        reply = await self.http.send(request)
        if not isinstance(reply, Reply):
            return Cancelled.UNKNOWN
        word = CANCEL_WORDS.get(read_cancel(reply) or "")
        return word or CANCEL_STATUSES.get(reply.status, Cancelled.UNKNOWN)

    async def health(self, patience_s: float) -> Health:
        """Any answer of the edge. fal has no free call that says whether key, credit and model are in order:
        `ready` only means "reachable"; the truth comes from real attempts and the router's canary."""
        reply = await self.http.send(Request("GET", f"{self.base_url}/", patience_s))
        if isinstance(reply, Failed):
            return Health(reachable=reply.fault is not Fault.NOT_SENT, ready=False, detail=reply.code)
        return Health(reachable=True, ready=reply.status < 500, detail="account not checked")

    def _authorization(self) -> dict[str, str]:
        return {} if self.credential is None else {"Authorization": f"Key {self.credential}"}


def untrusted(ended: Ended = Ended.UNKNOWN, spent: Spent = Spent.POSSIBLE) -> Failed:
    """A reply that leads outside the allow-list; it is not followed."""
    return Failed(Fault.UNUSABLE, "untrusted_url", "", ended, spent)
