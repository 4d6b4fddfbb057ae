"""One attempt: one lease or one hold, one call of one back end, one outcome, and what it held given back.

Leaving early, whatever the reason, drops the connection and gives the slot back as far as is known: work that
may still run keeps its slot as a ghost until the worker proves it over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from providers.contract import (
    Accepted,
    Call,
    Cancelled,
    Ended,
    Failed,
    Fault,
    Outcome,
    Produced,
    Provider,
    Spent,
)
from router.serving.holdings import Holdings
from router.store.capacity import Capacity, Lease
from router.store.ledger import Hold, Ledger
from router.store.link import StoreDown

CUT = Failed(Fault.LOST_LEASE, "cut_by_claim", ended=Ended.UNKNOWN)
CANCEL_S = 2.0
"""A client waits no longer than this for a provider to confirm a cancel."""
GIVE_BACK_S = 60.0
"""What cannot be given back for so long has ended in the store by itself: by expiry, evidence, deadline."""

Spawn = Callable[[Coroutine[Any, Any, None]], None]
"""Runs something to its end beyond the scope that asked for it."""


@dataclass(frozen=True, slots=True)
class OnPremAttempts:
    """Attempts on workers. `give_back` runs to its end even when the attempt is cancelled."""

    capacity: Capacity
    holdings: Holdings
    give_back: Spawn

    async def run(self, lease: Lease, provider: Provider, call: Call) -> Outcome:
        """The outcome; the lease is released or haunted when this returns or is cancelled."""
        ended = Ended.UNKNOWN
        try:
            with self.holdings.holding(lease) as held:
                outcome = await _unless(held.cut, _last_word(provider, call, _Taken()))
            ended = outcome.ended if isinstance(outcome, Failed) else Ended.YES
            return outcome
        finally:
            self.give_back(until_done(lambda: self.capacity.release(lease, ended.value)))


@dataclass(slots=True)
class _Taken:
    """The provider's handle of accepted work."""

    handle: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ExternalAttempts:
    """Attempts that cost money. The hold is settled when it is known, or must be assumed, what was spent."""

    ledger: Ledger
    give_back: Spawn
    monotonic: Callable[[], float]

    async def run(self, hold: Hold, provider: Provider, call: Call) -> tuple[Outcome, int]:
        """The outcome and what it cost (micro-USD). Work that may run on is called off, and the client does
        not wait for that past the call's budget; being cancelled calls it off as well."""
        taken, end = _Taken(), self.monotonic() + call.budget_s
        try:
            outcome = await _last_word(provider, call, taken)
            if isinstance(outcome, Failed) and outcome.ended is Ended.UNKNOWN and taken.handle is not None:
                left = min(CANCEL_S, end - self.monotonic())
                outcome = await _called_off(provider, taken.handle, outcome, left)
        except BaseException:
            self.give_back(self._call_off(hold, provider, taken.handle))
            raise
        spent = _cost(outcome, hold)
        if spent and isinstance(outcome, Failed) and outcome.ended is Ended.UNKNOWN:
            self.give_back(self._call_off(hold, provider, taken.handle))
        else:
            self.give_back(until_done(lambda: self.ledger.settle(hold, spent)))
        return outcome, spent

    async def _call_off(self, hold: Hold, provider: Provider, handle: Mapping[str, str] | None) -> None:
        """Settles by what the provider says to a cancel; silence means that it was spent."""
        free = handle is not None and await provider.cancel(handle) is Cancelled.CONFIRMED
        await until_done(lambda: self.ledger.settle(hold, 0 if free else hold.price))


async def _last_word(provider: Provider, call: Call, taken: _Taken) -> Outcome:
    outcome: Outcome = Failed(Fault.AMBIGUOUS, "no_outcome", ended=Ended.UNKNOWN, spent=Spent.POSSIBLE)
    async for event in provider.start(call):
        if isinstance(event, Accepted):
            taken.handle = event.handle
        elif isinstance(event, Produced | Failed):
            outcome = event
    return outcome


async def _unless(cut: asyncio.Event, work: Awaitable[Outcome]) -> Outcome:
    """The work's outcome, unless it is cut first. The work's connection is closed before this returns."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(_awaited(work))
        guard = group.create_task(cut.wait())
        await asyncio.wait({running, guard}, return_when=asyncio.FIRST_COMPLETED)
        guard.cancel()
        if running.done():
            return running.result()
        running.cancel()
    return CUT


async def _awaited(work: Awaitable[Outcome]) -> Outcome:
    return await work


async def _called_off(
    provider: Provider, handle: Mapping[str, str], outcome: Failed, seconds: float
) -> Failed:
    """What the provider confirms as cancelled costs nothing, and leaves the way open to another attempt."""
    with suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, seconds)):
            if await provider.cancel(handle) is Cancelled.CONFIRMED:
                return Failed(Fault.FAILED_KNOWN, outcome.code, outcome.detail)
    return outcome


def _cost(outcome: Outcome, hold: Hold) -> int:
    """A provider bills what it made, also what could not be fetched: the whole price is booked."""
    return 0 if isinstance(outcome, Failed) and outcome.spent is Spent.NO else hold.price


async def until_done(act: Callable[[], Awaitable[None]]) -> None:
    """A store that is away for a while must not cost a slot: asked again, with pauses, until it answers."""
    again = AsyncRetrying(
        retry=retry_if_exception_type(StoreDown),
        wait=wait_random_exponential(multiplier=0.1, max=2.0),
        stop=stop_after_delay(GIVE_BACK_S),
        reraise=True,
    )
    async for attempt in again:
        with attempt:
            await act()
