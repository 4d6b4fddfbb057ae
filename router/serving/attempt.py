"""One attempt: one lease or one hold, one call of one back end, one outcome, and what it held given back.

Leaving early, whatever the reason, drops the connection and gives the slot back as far as is known: work that
may still run keeps its slot as a ghost until the worker proves it over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
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
CANCEL_TRIES = 2
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
                outcome = await _unless(held.cut, _last_word(provider, call))
            ended = outcome.ended if isinstance(outcome, Failed) else Ended.YES
            return outcome
        finally:
            self.give_back(until_done(lambda: self.capacity.release(lease, ended.value)))


@dataclass(frozen=True, slots=True)
class ExternalAttempts:
    """Attempts that cost money. The hold is settled when it is known, or must be assumed, what was spent."""

    ledger: Ledger
    give_back: Spawn

    async def run(self, hold: Hold, provider: Provider, call: Call) -> tuple[Outcome, int]:
        """The outcome and what it cost (micro-USD). Cancelled, it counts as spent: the work is on its way."""
        spent = hold.price
        try:
            outcome = await self._outcome(provider, call)
            spent = _cost(outcome, hold, call)
            return outcome, spent
        finally:
            self.give_back(until_done(lambda: self.ledger.settle(hold, spent)))

    async def _outcome(self, provider: Provider, call: Call) -> Outcome:
        handle: Mapping[str, str] | None = None
        outcome: Outcome = Failed(Fault.AMBIGUOUS, "no_outcome", ended=Ended.UNKNOWN, spent=Spent.POSSIBLE)
        async for event in provider.start(call):
            if isinstance(event, Accepted):
                handle = event.handle
            elif isinstance(event, Produced | Failed):
                outcome = event
        if isinstance(outcome, Failed) and handle is not None and outcome.ended is Ended.UNKNOWN:
            return await _called_off(provider, handle, outcome)
        return outcome


async def _last_word(provider: Provider, call: Call) -> Outcome:
    outcome: Outcome = Failed(Fault.AMBIGUOUS, "no_outcome", ended=Ended.UNKNOWN)
    async for event in provider.start(call):
        if isinstance(event, Produced | Failed):
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


async def _called_off(provider: Provider, handle: Mapping[str, str], outcome: Failed) -> Failed:
    """Paid work given up is called off; what the provider confirms as cancelled costs nothing."""
    for _ in range(CANCEL_TRIES):
        match await provider.cancel(handle):
            case Cancelled.CONFIRMED:
                return Failed(Fault.FAILED_KNOWN, outcome.code, outcome.detail)
            case Cancelled.UNKNOWN:
                continue
            case _:
                break
    return outcome


def _cost(outcome: Outcome, hold: Hold, call: Call) -> int:
    if isinstance(outcome, Produced):
        return hold.price * len(outcome.images) // call.generation.count
    return 0 if outcome.spent is Spent.NO else hold.price


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
