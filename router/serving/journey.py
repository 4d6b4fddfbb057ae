"""The state of one ticket on its way: its history, the images it has, and what the answer will say."""

from __future__ import annotations

from dataclasses import replace

from providers.contract import Failed, Fault, Generation, Image, Outcome, Produced, Spent
from router.model.step import Denied, Fact, History, Stop, Tried
from router.model.ticket import Ticket
from router.policy.history import extend, recall
from router.serving.answer import Answer
from router.serving.bells import Bell
from router.serving.run import Commitment
from router.store.clock import StoreClock

SAFE_TO_RETRY = frozenset({"no_capacity", "draining", "model_off"})


class Journey:
    """What has happened to one ticket. Knows no store and no provider.

    `asked`: pools in which it may have a place or an offer. `asking` (pool, id), `accepting` (pool) and
    `holding`: the slot, the offered slot and the hold whose answer has not been seen.
    """

    def __init__(self, ticket: Ticket, clock: StoreClock, bell: Bell, commitment: Commitment) -> None:
        self.ticket = ticket
        self.bell = bell
        self.history: History = ()
        self.asked: set[str] = set()
        self.asking: tuple[str, str] | None = None
        self.accepting: str | None = None
        self.holding: str | None = None
        self.attempts = 0
        self.waited_s = 0.0
        self._commitment = commitment
        self._clock = clock
        self._calls = 0
        self._images: list[Image] = []
        self._answer = Answer("")
        self._idle_since = clock.monotonic()

    @property
    def standing(self) -> str | None:
        """The pool in whose queue the ticket stands."""
        return recall(self.history).standing

    @property
    def attempt(self) -> str:
        """The id of the current attempt, and of the slot or hold it asks for."""
        return f"{self.ticket.id}.{self._calls}"

    def next_attempt(self) -> str:
        """A fresh id; ids are never used twice, so that calls about old ones change nothing."""
        self._calls += 1
        return self.attempt

    def add(self, fact: Fact) -> None:
        """One more fact for the policy."""
        self.history = extend(self.history, fact)

    def deny(self, pool: str, why: str, wait_s: float) -> None:
        """A lost race: not to be asked again for a while."""
        now = self._clock.now()
        self.add(Denied(pool, why, now, now + wait_s))

    def wanted(self) -> Generation:
        """The images that are still missing."""
        have = len(self._images)
        return self.ticket.generation.only(tuple(range(have, self.ticket.generation.count)))

    def pay(self) -> None:
        """Money is committed from here on."""
        self._commitment.pay()
        self._answer = replace(self._answer, paid=True)

    def start_running(self) -> float:
        """A slot is held; returns the local moment, and ends the time spent waiting."""
        now = self._clock.monotonic()
        self.attempts += 1
        self.waited_s = now - self._idle_since
        self._answer = replace(self._answer, queued_s=self._answer.queued_s + self.waited_s)
        return now

    def ended(
        self, outcome: Outcome, pool: str, worker: str, route: str, why: str, started: float, spent: int
    ) -> Tried:
        """One attempt is over: its images are kept, its outcome becomes a fact."""
        self._idle_since = self._clock.monotonic()
        images = outcome.images[: self.wanted().count] if isinstance(outcome, Produced) else ()
        self._images.extend(images)
        seed = outcome.seed if isinstance(outcome, Produced) else None
        self._answer = replace(
            self._answer,
            route=route,
            pool=pool,
            why=why,
            attempts=self.attempts,
            spent=self._answer.spent + spent,
            seed=self._answer.seed if seed is None else seed,
            ran_s=self._answer.ran_s + self._idle_since - started,
        )
        fact = _tried(outcome, pool, worker, route, why, len(images), self._clock.now())
        self.add(fact)
        if fact.paid and fact.fault is not None and fact.spent is Spent.NO:
            self._commitment.unspent()
        return fact

    def stop(self, step: Stop, reason: str) -> Answer:
        """The answer, with what has been made: what is there is delivered, whatever became of the rest."""
        waited = self._clock.monotonic() - self._idle_since
        return replace(
            self._answer,
            reason=reason,
            images=tuple(self._images),
            missing=self.ticket.generation.count - len(self._images),
            queued_s=self._answer.queued_s + (0.0 if step.reason == "done" else waited),
            retry_after_s=step.retry_after_s,
            retryable=reason in SAFE_TO_RETRY and not self._answer.paid,
        )


def _tried(outcome: Outcome, pool: str, worker: str, route: str, why: str, made: int, at: float) -> Tried:
    paid = route == "external"
    if isinstance(outcome, Failed):
        return Tried(
            pool,
            why,
            at,
            paid,
            worker,
            fault=outcome.fault,
            code=outcome.code,
            ended=outcome.ended,
            spent=outcome.spent,
            retry_after_s=outcome.retry_after_s,
        )
    fault = None if made else Fault.UNUSABLE
    return Tried(pool, why, at, paid, worker, made=made, fault=fault, code="" if made else "no_image")
