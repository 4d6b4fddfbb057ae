"""Carries one ticket from admission to its answer: asks the policy, performs the step, asks again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from router.model.fleet import PoolView, Snapshot
from router.model.rules import Rules
from router.model.step import Step, Stop
from router.model.ticket import Ticket
from router.policy.forecast import Forecast
from router.policy.step import next_step
from router.serving.answer import Answer
from router.serving.attempt import Spawn, until_done
from router.serving.bells import Bells
from router.serving.drain import Drain
from router.serving.journey import Journey
from router.serving.lookout import Lookout
from router.serving.run import Commitment
from router.serving.steps import Steps
from router.store.clock import StoreClock
from router.telemetry.events import Decided, Record
from router.telemetry.spans import Spans

NOTHING = Forecast()


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The loop around the policy; one for a replica."""

    rules: Rules
    clock: StoreClock
    lookout: Lookout
    bells: Bells
    steps: Steps
    drain: Drain
    record: Record
    give_back: Spawn
    spans: Spans

    async def carry(self, ticket: Ticket, commitment: Commitment) -> Answer:
        """The ticket's answer. `commitment` is told before money is committed, and when it was not spent.

        Raises `StoreDown` if the store goes away before a slot or a hold was got. Cancelled or failing, it
        gives back whatever the ticket holds or may hold.
        """
        with self.spans.dispatch(ticket) as span, self.bells.hung(ticket.id) as bell:
            journey = Journey(replace(ticket, traceparent=span.traceparent), self.clock, bell, commitment)
            try:
                answer = await self._walked(journey)
            except BaseException:
                self.give_back(until_done(lambda: self.steps.depart(journey)))
                raise
            span.note(reason=answer.reason, attempts=answer.attempts, route=answer.route)
            return answer

    async def _walked(self, journey: Journey) -> Answer:
        while True:
            step = self._decide(journey)
            if isinstance(step, Stop):
                return self._stop(journey, step)
            await self.steps.perform(journey, step)

    def _decide(self, journey: Journey) -> Step:
        snapshot, forecasts, now = self.lookout.snapshot, self.lookout.forecasts, self.clock.now()
        if self.drain.last_call:
            snapshot = _without_onprem(snapshot)
            forecasts = dict.fromkeys(snapshot.pools, NOTHING)
        step = next_step(journey.ticket, journey.history, snapshot, forecasts, self.rules, now)
        self.record(Decided.of(journey.ticket, step, journey.history, snapshot, self.rules, now))
        return step

    def _stop(self, journey: Journey, step: Stop) -> Answer:
        if journey.asked:  # not awaited: a store that is away now must not cost the answer
            self.give_back(until_done(lambda: self.steps.leave(journey)))
        draining = self.drain.last_call and step.reason in ("no_capacity", "upstream_error")
        return journey.stop(step, "draining" if draining else step.reason)


def _without_onprem(snapshot: Snapshot) -> Snapshot:
    """A replica about to end has no time to wait for a slot: what is queued spills, or is refused."""
    return replace(snapshot, pools={name: PoolView(name, open=False) for name in snapshot.pools})
