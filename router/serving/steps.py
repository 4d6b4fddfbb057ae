"""Performs the policy's steps: `Try` becomes a slot or a hold, and `Wait` a place that is listened for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from providers.contract import Call, Failed, Generation, Outcome
from router.model.rules import HomePool, Offer, Rules
from router.model.step import External, Left, OnPrem, Queued, Try, Wait
from router.policy.estimate import attempt_budget, in_slot
from router.serving.attempt import ExternalAttempts, OnPremAttempts, until_done
from router.serving.backends import Backends
from router.serving.journey import Journey
from router.serving.lookout import Lookout
from router.store.capacity import Capacity, Lease, Offered, Refused, Standing
from router.store.clock import StoreClock
from router.store.ledger import Hold, Ledger, NotHeld
from router.telemetry import events
from router.telemetry.events import Place, Record
from router.telemetry.spans import Spans

ASK_AGAIN_S = 0.25
"""A lost race is not run again sooner."""
SETTLE_S = 60.0
"""A hold outlives its attempt's budget by this; a hold nobody settles counts as spent."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What performing a step needs; one for a replica."""

    rules: Rules
    clock: StoreClock
    capacity: Capacity
    ledger: Ledger
    lookout: Lookout
    backends: Backends
    onprem: OnPremAttempts
    external: ExternalAttempts
    record: Record
    spans: Spans

    async def perform(self, journey: Journey, step: Try | Wait) -> None:
        """One step; what came of it is in the journey's history."""
        match step:
            case Wait():
                offered = await journey.bell.wait(max(0.01, self.clock.until(step.until)))
                if offered and (pool := journey.standing):
                    await self._accept(journey, pool)
            case Try(placement=OnPrem() as placement):
                await self._ask(journey, placement, step.reason)
            case Try(placement=External() as placement):
                await self._pay(journey, placement, step.reason)

    async def leave(self, journey: Journey) -> None:
        """Gives up a queue place; a slot that was offered meanwhile goes back."""
        for pool in journey.asked:
            if await self.capacity.leave_if_unoffered(pool, journey.ticket.id) == "offered":
                await self.capacity.decline(pool, journey.ticket.id)
        journey.asked.clear()

    async def depart(self, journey: Journey) -> None:
        """Gives up everything, also what was asked for and never answered. May be repeated.

        A store that stood still carries out late what it was asked before: so it is asked until it answers.
        """
        if journey.accepting is not None:
            await self.capacity.decline(journey.accepting, journey.ticket.id)
        if journey.asking is not None:
            await self.capacity.forget(*journey.asking)
        await self.leave(journey)
        if journey.holding is not None:
            await self.ledger.forget(journey.holding)

    async def _ask(self, journey: Journey, placement: OnPrem, reason: str) -> None:
        journey.asked.add(placement.pool)
        journey.asking = (placement.pool, journey.next_attempt())
        reply = await self.capacity.acquire(
            journey.ticket.id, journey.attempt, placement, journey.ticket.deadline
        )
        journey.asking = None
        match reply:
            case Lease():
                journey.asked.discard(placement.pool)
                await self._run_onprem(journey, reply, reason, offered=False)
            case Standing(ahead):
                journey.add(Queued(placement.pool, self.clock.now(), ahead))
                self.record(events.Queued(placement.pool, placement.lane, ahead))
            case Offered():
                journey.add(Queued(placement.pool, self.clock.now()))
                await self._accept(journey, placement.pool)
            case Refused(why):
                self._denied(journey, placement.pool, why)

    async def _accept(self, journey: Journey, pool: str) -> None:
        journey.accepting = pool
        reply = await self.capacity.accept(pool, journey.ticket.id)
        journey.accepting = None
        if isinstance(reply, Lease):
            journey.asked.discard(pool)
            await self._run_onprem(journey, reply, "onprem", offered=True)
        elif reply is None:
            journey.add(Left(pool, self.clock.now()))

    async def _pay(self, journey: Journey, placement: External, reason: str) -> None:
        if not self.lookout.take_room(placement.pool):
            return self._denied(journey, placement.pool, "at_capacity")
        if (pool := journey.standing) and not await self._left(journey, pool):
            return self.lookout.give_room(placement.pool)
        journey.holding = journey.next_attempt()
        expires = self.clock.now() + placement.budget_s + SETTLE_S
        hold = await self.ledger.hold(
            placement.pool, journey.attempt, placement.price, journey.ticket.id, expires
        )
        journey.holding = None
        if isinstance(hold, NotHeld):
            return self._denied(journey, placement.pool, hold.why)
        await self._run_external(journey, hold, placement, reason)
        return self.lookout.give_room(placement.pool)

    async def _left(self, journey: Journey, pool: str) -> bool:
        """Only a confirmed `left` permits to go elsewhere; a slot offered meanwhile is taken instead."""
        answer = await self.capacity.leave_if_unoffered(pool, journey.ticket.id)
        if answer == "offered":
            await self._accept(journey, pool)
            return False
        journey.add(Left(pool, self.clock.now()))
        return answer == "left"

    async def _run_onprem(self, journey: Journey, lease: Lease, reason: str, *, offered: bool) -> None:
        home = self._home(journey, lease.pool)
        started = journey.start_running()
        self.record(events.Leased(lease.pool, lease.worker, lease.node, journey.waited_s, offered))
        provider = self.backends.worker(lease.pool, lease.url)
        with self.spans.attempt(journey.ticket, lease.pool, lease.worker) as span:
            call = Call(
                generation=_for_worker(journey.wanted(), home),
                target=home.target,
                attempt=journey.attempt,
                fence=lease.fence,
                budget_s=self._budget(journey),
                send_by=lease.send_by,
                traceparent=span.traceparent,
                loras=home.loras,
            )
            outcome = await self.onprem.run(lease, provider, call)
            span.ended(outcome)
        self._ended(journey, outcome, (lease.pool, lease.worker, "onprem", reason), started, 0)

    async def _run_external(self, journey: Journey, hold: Hold, placement: External, reason: str) -> None:
        journey.pay()
        started = journey.start_running()
        self.record(events.Spilled(placement.pool, journey.ticket.generation.model, reason))
        self.record(events.Held(placement.pool, hold.price))
        provider = self.backends.account(placement.pool)
        with self.spans.attempt(journey.ticket, placement.pool, "") as span:
            call = Call(
                generation=journey.wanted(),
                target=placement.target,
                attempt=journey.attempt,
                fence=journey.attempts,
                budget_s=self._left_s(journey),
                loras=self._offer(journey, placement.pool).loras,
            )
            outcome, spent = await self.external.run(hold, provider, call)
            span.ended(outcome)
        self.record(events.Settled(placement.pool, spent, hold.price))
        if isinstance(outcome, Failed) and outcome.retry_after_s is not None:
            until = self.clock.now() + outcome.retry_after_s
            self.external.give_back(until_done(lambda: self.ledger.cool(placement.pool, until)))
        self._ended(journey, outcome, (placement.pool, "", "external", reason), started, spent)

    def _ended(
        self,
        journey: Journey,
        outcome: Outcome,
        where: tuple[str, str, Place, str],
        started: float,
        spent: int,
    ) -> None:
        pool, worker, route, why = where
        fact = journey.ended(outcome, pool, worker, route, why, started, spent)
        self.record(
            events.AttemptEnded(
                job=journey.ticket.id,
                pool=pool,
                place=route,
                worker=worker,
                dialect=self.backends.dialects.get(pool, ""),
                model=journey.ticket.generation.model,
                fault=fact.fault,
                code=fact.code,
                seconds=self.clock.monotonic() - started,
                images=fact.made,
                reason=why,
                cut=fact.code == "cut_by_claim",
            )
        )

    def _denied(self, journey: Journey, pool: str, why: str) -> None:
        journey.deny(pool, why, ASK_AGAIN_S)
        self.record(events.Denied(pool, why))

    def _home(self, journey: Journey, pool: str) -> HomePool:
        homes = self.rules.models[journey.ticket.generation.model].homes
        return next(home for home in homes if home.name == pool)

    def _offer(self, journey: Journey, pool: str) -> Offer:
        offers = self.rules.models[journey.ticket.generation.model].offers
        return next(offer for offer in offers if offer.pool == pool)

    def _budget(self, journey: Journey) -> float:
        model = self.rules.models[journey.ticket.generation.model]
        estimate = in_slot(model.profile, journey.wanted(), self.rules.sigmas)
        return attempt_budget(estimate, self._left_s(journey))

    def _left_s(self, journey: Journey) -> float:
        return max(0.05, self.clock.until(journey.ticket.deadline))


def _for_worker(generation: Generation, home: HomePool) -> Generation:
    """A worker that carries its LoRA for everybody needs no word of it in the request."""
    return generation if home.capabilities.loras else replace(generation, loras=())
