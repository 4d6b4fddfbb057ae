"""However the world behaves, a ticket ends by its deadline, after a bounded number of tries."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from providers.contract import Fault, Spent
from router.model.fleet import Snapshot
from router.model.rules import Rules
from router.model.step import Denied, External, Fact, History, Left, OnPrem, Queued, Stop, Tried, Try, Wait
from router.model.ticket import Ticket
from router.policy.history import extend, recall
from tests.policy.playbook import NOW, decide
from tests.policy.worlds import rulebooks, snapshots, tickets

LONGEST = 20_000


@dataclass
class World:
    """Performs steps as a store and back ends would, by the throw of a die, and lets time pass."""

    dice: Random
    fleets: list[Snapshot]
    now: float = NOW
    history: History = ()
    asked_at_once: int = 0
    attempts: int = field(default=0)

    def fleet(self) -> Snapshot:
        return self.dice.choice(self.fleets)

    def add(self, fact: Fact) -> None:
        self.history = extend(self.history, fact)

    def perform(self, step: Try | Wait) -> None:
        match step:
            case Wait(until=until):
                self.wait(until)
            case Try(placement=OnPrem() as at):
                self.ask(at)
            case Try(placement=External() as at):
                self.pay(at)

    def wait(self, until: float) -> None:
        """Until then, or an offer or a new picture comes first."""
        early = self.dice.random() < 0.3
        self.now += (until - self.now) * (self.dice.random() if early else 1.0)
        standing = recall(self.history).standing
        if standing is not None and self.dice.random() < 0.2:
            self.run(standing, "w1", paid=False)
        elif standing is not None and self.dice.random() < 0.05:
            self.add(Left(standing, self.now))

    def ask(self, at: OnPrem) -> None:
        throw = self.dice.random()
        if throw < 0.4:
            self.run(at.pool, self.dice.choice(at.preferred or ("w9",)), paid=False)
        elif throw < 0.7 and at.queue:
            self.add(Queued(at.pool, self.now))
        else:
            self.add(Denied(at.pool, "no_free_slot", self.now, self.now + 0.25))

    def pay(self, at: External) -> None:
        if (standing := recall(self.history).standing) is not None:
            if self.dice.random() < 0.2:
                return self.run(standing, "w1", paid=False)
            self.add(Left(standing, self.now))
        if self.dice.random() < 0.3:
            return self.add(Denied(at.pool, "at_capacity", self.now, self.now + 0.25))
        return self.run(at.pool, "", paid=True)

    def run(self, pool: str, worker: str, *, paid: bool) -> None:
        self.attempts += 1
        self.now += self.dice.choice((0.0, 0.01, 1.0, 10.0))
        fault = self.dice.choice([None, *Fault])
        spent = self.dice.choice(list(Spent)) if paid else Spent.NO
        made = 1 if fault is None else 0
        self.add(Tried(pool, "x", self.now, paid, worker, made, fault, "code", spent=spent))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tickets(), st.lists(snapshots(), min_size=1, max_size=3), rulebooks(), st.integers(0, 2**32))
def test_every_ticket_ends(asked: Ticket, fleets: list[Snapshot], said: Rules, seed: int) -> None:
    world = World(Random(seed), fleets)
    for _ in range(LONGEST):
        late = world.now >= asked.deadline
        step = decide(asked, world.fleet(), world.history, said, world.now)
        if isinstance(step, Stop):
            break
        assert not late, "a step after the deadline that does not end it"
        world.perform(step)
        assert len(world.history) < 30 + world.attempts
    else:
        raise AssertionError("it went on and on")
    tried = [fact for fact in world.history if isinstance(fact, Tried)]
    lost = sum(fact.fault is Fault.LOST_LEASE for fact in tried)
    assert len(tried) == world.attempts <= said.max_tries + lost
    bought = [fact for fact in tried if fact.paid and fact.spent is not Spent.NO and not fact.made]
    assert len(bought) <= 1 or asked.tenant.allow_double_spend
