"""A fal account, spoken to through its queue."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from providers.contract import Accepted, Call, Cancelled, Capabilities, Event, Failed, Fault, Health
from providers.fal.collecting import collect
from providers.fal.polling import follow
from providers.fal.queue import Queue, untrusted
from providers.fal.settings import Settings
from providers.fal.wire import Status, Ticket, ticket
from providers.http import Http


class FalQueue:
    """A `Provider`. Leaving an iterator early stops the polling only: the request goes on until `cancel`."""

    def __init__(
        self,
        settings: Settings,
        http: Http,
        base_url: str,
        credential: str | None,
        clock: Callable[[], float],
    ) -> None:
        self._queue = Queue(http, base_url.rstrip("/"), credential, settings, clock)
        self._capabilities = settings.capabilities()
        self._clock = clock

    @property
    def capabilities(self) -> Capabilities:
        """What this account's endpoints honour."""
        return self._capabilities

    async def start(self, call: Call) -> AsyncGenerator[Event, None]:
        """Submit, then as `resume`."""
        deadline = self._clock() + call.budget_s
        refused = self._capabilities.refuses(call.generation) or _unnamed_lora(call)
        if refused is not None:  # the router asks `capabilities` first; nothing is dropped silently
            yield Failed(Fault.NOT_SENT, "unsupported_parameter", refused)
            return
        submitted = await self._queue.submit(call)
        if isinstance(submitted, Failed):
            yield submitted
            return
        yield Accepted(submitted.handle())
        async with aclosing(self._finish(submitted, call, deadline)) as events:
            async for event in events:
                yield event

    async def resume(self, handle: Mapping[str, str], call: Call) -> AsyncGenerator[Event, None]:
        """Poll and collect what was accepted before, within `call.budget_s` from now."""
        known = ticket(handle)
        if known is None or not self._queue.trusts(known):
            yield untrusted()
            return
        async with aclosing(self._finish(known, call, self._clock() + call.budget_s)) as events:
            async for event in events:
                yield event

    async def cancel(self, handle: Mapping[str, str]) -> Cancelled:
        """`CONFIRMED` only for work that was still queued."""
        known = ticket(handle)
        if known is None or not self._queue.trusts(known):
            return Cancelled.UNKNOWN
        return await self._queue.cancel(known)

    async def health(self, patience_s: float) -> Health:
        """Reachability; see `Queue.health`."""
        return await self._queue.health(patience_s)

    async def _finish(self, known: Ticket, call: Call, deadline: float) -> AsyncGenerator[Event, None]:
        async with aclosing(follow(self._queue, known, deadline)) as answers:
            async for answer in answers:
                if isinstance(answer, Status):
                    yield await collect(self._queue, known, answer, call, deadline)
                    return
                yield answer


def _unnamed_lora(call: Call) -> str | None:
    return next((lora.name for lora in call.generation.loras if lora.name not in call.loras), None)
