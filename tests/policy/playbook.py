"""A small deployment with round numbers, and a way to play it: facts in, the policy's steps out.

One image takes 2.0 s on-prem (2.4 s at worst) and 4.0 s at a provider (6.0 s at worst). It is always 1000.0
o'clock, and a ticket has 20 s. So its rank is 1017.3: start later, and it may be late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from providers.contract import Capabilities, Fault, Generation, Lora, Spent
from router.model.fleet import AccountView, PoolView, Snapshot, Waiter, WorkerView
from router.model.money import Price
from router.model.rules import HomePool, ModelRules, Offer, Profile, Rules
from router.model.step import (
    Denied,
    External,
    Fact,
    History,
    Left,
    OnPrem,
    Queued,
    Step,
    Stop,
    Tried,
    Try,
    Wait,
)
from router.model.ticket import Tenant, Ticket
from router.policy.forecast import forecast
from router.policy.history import extend
from router.policy.step import next_step

NOW = 1000.0
RANK = 1017.3
CENT = 10_000
LORA = Lora("ink")


def generation(**given: Any) -> Generation:
    """One image of one megapixel in ten steps."""
    return Generation(**{"model": "krea", "prompt": "", "width": 1000, "height": 1000, "steps": 10, **given})


def ticket(left_s: float = 20.0, tenant: Tenant | None = None, **given: Any) -> Ticket:
    """A ticket that came just now."""
    return Ticket("job-1", generation(**given), tenant or Tenant("acme"), "standard", NOW, NOW + left_s)


def worker(name: str, *ends: float, **given: Any) -> WorkerView:
    """A worker with one slot; `ends` are when its work ends."""
    lanes = frozenset({"krea"})
    return WorkerView(
        **{"id": name, "node": f"n-{name}", "url": "", "slots": 1, "lanes": lanes, "ends": ends, **given}
    )


def pool(*workers: WorkerView, name: str = "home", **given: Any) -> PoolView:
    """An on-prem pool."""
    return PoolView(name, workers=workers, **given)


def crowd(*ranks: float, lane: str = "krea") -> dict[str, Any]:
    """Waiters of these ranks, each for two seconds."""
    return {"queue": tuple(Waiter(rank, lane, 2.0) for rank in ranks), "waiting": len(ranks)}


def account(name: str = "fal", **given: Any) -> AccountView:
    """A provider account with room and money."""
    return AccountView(**{"name": name, "concurrency": 8, "budget": 1_000_000, **given})


def offer(name: str = "fal", cents: int = 3, **given: Any) -> Offer:
    """Four seconds usually, six at worst."""
    prices = (Price(cents * CENT, 0, 0.0),)
    known = {"pool": name, "target": f"{name}/krea", "prices": prices, "capabilities": Capabilities()}
    return Offer(**{**known, "latency_s": 4.0, "spread": 0.25, **given})


def home(name: str = "home", **given: Any) -> HomePool:
    """A pool whose servers know no LoRA."""
    return HomePool(**{"name": name, "target": "k", "capabilities": Capabilities(), **given})


def model(*homes: HomePool, offers: tuple[Offer, ...] | None = None) -> ModelRules:
    """The model, at one provider unless said otherwise."""
    profile = Profile(fixed_s=1.0, per_step_mp_s=0.1, spread=0.1)
    at = (offer(),) if offers is None else offers
    return ModelRules("krea", homes or (home(),), profile, at, base_steps=10)


def rules(*homes: HomePool, offers: tuple[Offer, ...] | None = None, **given: Any) -> Rules:
    """Rules for the one model."""
    return Rules(version="v1", models={"krea": model(*homes, offers=offers)}, **given)


def snapshot(*pools: PoolView, accounts: tuple[AccountView, ...] | None = None, **given: Any) -> Snapshot:
    """The fleet; one provider account unless said otherwise."""
    money = (account(),) if accounts is None else accounts
    return Snapshot(
        NOW, pools={one.name: one for one in pools}, accounts={one.name: one for one in money}, **given
    )


def decide(
    asked: Ticket, fleet: Snapshot, history: History = (), said: Rules | None = None, now: float = NOW
) -> Step:
    """The policy's step; the forecasts are those of the fleet."""
    forecasts = {name: forecast(view, now) for name, view in fleet.pools.items()}
    return next_step(asked, history, fleet, forecasts, said or rules(), now)


def say(step: Step) -> str:
    """A step in a few words: `home w1 w2 (onprem)`, `fal (onprem_saturated)`, `wait queued`, `stop done`."""
    match step:
        case Try(OnPrem() as at, reason):
            return " ".join([at.pool, *at.preferred, *(["or queue"] if at.queue else []), f"({reason})"])
        case Try(External() as at, reason):
            return f"{at.pool} ({reason})"
        case Wait(reason=reason):
            return f"wait {reason}"
        case Stop(reason=reason):
            return f"stop {reason}"
        case _:
            return repr(step)


def failed(fault: Fault, worker: str = "w1", at: float = NOW, **given: Any) -> Tried:
    """An on-prem attempt that failed."""
    return Tried("home", "onprem", at, worker=worker, fault=fault, code=str(fault), **given)


def paid(fault: Fault | None = None, spent: Spent = Spent.NO, name: str = "fal", **given: Any) -> Tried:
    """A paid attempt that is over."""
    return Tried(
        name, "onprem_saturated", **{"at": NOW, **given}, paid=True, fault=fault, code=str(fault), spent=spent
    )


def lost_race(until: float = NOW + 0.25, name: str = "home") -> Denied:
    """A slot or a hold that was refused."""
    return Denied(name, "no_free_slot", NOW, until)


class Play:
    """One ticket's story: `then` adds a fact, `at` moves the clock, `sees` changes the fleet."""

    def __init__(self, asked: Ticket, fleet: Snapshot, said: Rules | None = None) -> None:
        self._ticket, self._fleet, self._rules = asked, fleet, said or rules()
        self._history: History = ()
        self._now = NOW

    def then(self, fact: Fact) -> Self:
        self._history = extend(self._history, fact)
        return self

    def queued(self, at: float | None = None) -> Self:
        return self.then(Queued("home", self._now if at is None else at))

    def left(self) -> Self:
        return self.then(Left("home", self._now))

    def at(self, now: float) -> Self:
        self._now = now
        return self

    def sees(self, fleet: Snapshot) -> Self:
        self._fleet = replace(fleet, taken_at=self._now)
        return self

    def expect(self, words: str) -> Self:
        assert say(self.step()) == words
        return self

    def step(self) -> Step:
        return decide(self._ticket, self._fleet, self._history, self._rules, self._now)
