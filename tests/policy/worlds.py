"""Random deployments, fleets and histories, small enough to meet every corner."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from providers.contract import Capabilities, Ended, Fault, Generation, Lora, Spent
from router.model.fleet import AccountView, PoolView, Snapshot, Waiter, WorkerView
from router.model.money import Price
from router.model.rules import HomePool, ModelRules, Offer, Profile, Rules
from router.model.step import Denied, Fact, History, Left, Queued, Step, Tried
from router.model.ticket import Tenant, Ticket
from router.policy.history import Past, extend, recall
from tests.policy.playbook import NOW, decide

POOLS = ("home", "spare")
ACCOUNTS = ("fal", "rep", "run")
WORKERS = ("w1", "w2", "w3", "w4")
LANES = ("krea", "krea+ink", "other")

mostly = st.sampled_from((*[True] * 11, False))
"""Worlds in which everything may be wrong, but seldom is: else no ticket would get anywhere."""
rarely = mostly.map(lambda yes: not yes)
moments = st.floats(NOW - 100, NOW + 200)
short = st.floats(0, 60)
money = st.integers(0, 100_000)
large = st.integers(0, 10_000_000)
loras = st.builds(Lora, st.sampled_from(("ink", "oil")), st.sampled_from((1.0, 0.5)))

generations = st.builds(
    Generation,
    model=st.just("krea"),
    prompt=st.just(""),
    width=st.integers(64, 2048),
    height=st.integers(64, 2048),
    steps=st.integers(1, 60),
    count=st.integers(1, 4),
    seed=st.none() | st.integers(0, 9),
    negative_prompt=rarely.map(lambda yes: "x" if yes else None),
    loras=st.just(()) | st.lists(loras, max_size=2).map(tuple),
)
tenants = st.builds(Tenant, st.just("acme"), mostly, st.booleans())
capabilities = st.builds(
    Capabilities,
    max_count=st.sampled_from((4, 4, 1)),
    loras=mostly,
    negative_prompt=mostly,
    seed=mostly,
)
names = st.frozensets(st.sampled_from(("ink", "oil")))

workers = st.builds(
    WorkerView,
    id=st.sampled_from(WORKERS),
    node=st.just("n"),
    url=st.just(""),
    slots=st.integers(0, 3),
    lanes=st.frozensets(st.sampled_from(LANES), min_size=1),
    up=mostly,
    closed=rarely,
    claimed=rarely,
    closes_at=st.none() | moments,
    ends=st.lists(moments, max_size=4).map(tuple),
)
profiles = st.builds(
    Profile, st.floats(0, 3), st.floats(0.001, 0.2), st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 30)
)
waiters = st.builds(Waiter, moments, st.sampled_from(LANES), short)


@st.composite
def pools(draw: st.DrawFn, name: str = "home") -> PoolView:
    """A pool whose queue is in the order of ranks, as the store gives it."""
    queue = tuple(sorted(draw(st.lists(waiters, max_size=6)), key=lambda waiter: waiter.rank))
    some = tuple(draw(st.lists(workers, max_size=4, unique_by=lambda worker: worker.id)))
    return PoolView(name, draw(mostly), some, queue, len(queue) + draw(st.integers(0, 3)))


def accounts(name: str) -> st.SearchStrategy[AccountView]:
    """An account that may be off, full, cooling or out of money."""
    cooling = st.just(0.0) | moments
    return st.builds(
        AccountView, st.just(name), mostly, st.integers(0, 3), st.integers(1, 8), money, large, cooling
    )


def offers(name: str) -> st.SearchStrategy[Offer]:
    """An offer whose price may be unknown or announced."""
    since = st.just(0.0) | moments
    prices = st.lists(st.builds(Price, money, money, since), max_size=3).map(tuple)
    known = names.map(lambda some: dict.fromkeys(some, "u"))
    return st.builds(
        Offer, st.just(name), st.just("t"), prices, capabilities, st.floats(0.1, 30), st.floats(0, 1), known
    )


def homes(name: str) -> st.SearchStrategy[HomePool]:
    """A pool as the model sees it."""
    return st.builds(HomePool, st.just(name), st.just("t"), capabilities, names)


@st.composite
def rulebooks(draw: st.DrawFn) -> Rules:
    """Rules for one model."""
    at = draw(st.permutations(POOLS))[: draw(st.sampled_from((2, 2, 1, 1, 0)))]
    by = draw(st.permutations(ACCOUNTS))[: draw(st.sampled_from((3, 3, 2, 1, 0)))]
    profile = draw(profiles)
    model = ModelRules(
        "krea",
        tuple(draw(homes(name)) for name in at),
        profile,
        tuple(draw(offers(name)) for name in by),
    )
    tries = draw(st.integers(1, 6))
    return Rules("v1", {"krea": model}, max_tries=tries, max_onprem_failures=draw(st.integers(1, 3)))


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A fleet in which pools and accounts may be missing."""
    seen = [name for name in POOLS if draw(mostly)]
    money_of = [name for name in ACCOUNTS if draw(mostly)]
    return Snapshot(
        taken_at=NOW,
        pools={name: draw(pools(name)) for name in seen},
        accounts={name: draw(accounts(name)) for name in money_of},
        models_off=frozenset({"krea"}) if draw(rarely) else frozenset(),
        overflow_open=draw(mostly),
    )


@st.composite
def tickets(draw: st.DrawFn) -> Ticket:
    """A ticket that may be late already."""
    left_s = draw(st.floats(10, 120)) if draw(mostly) else draw(st.floats(-5, 10))
    return Ticket("job-1", draw(generations), draw(tenants), "standard", NOW, NOW + left_s)


tried = st.builds(
    Tried,
    pool=st.sampled_from(POOLS + ACCOUNTS),
    reason=st.just("onprem"),
    at=moments,
    paid=rarely,
    worker=st.sampled_from(("", *WORKERS)),
    made=rarely.map(int),
    fault=st.sampled_from(Fault),
    code=st.just("code"),
    ended=st.sampled_from(Ended),
    spent=st.sampled_from((Spent.NO, Spent.NO, *Spent)),
    retry_after_s=st.none() | short,
)
facts: st.SearchStrategy[Fact] = st.one_of(
    st.builds(Queued, st.sampled_from(POOLS), moments, st.integers(0, 9)),
    st.builds(Left, st.sampled_from(POOLS), moments),
    st.builds(Denied, st.sampled_from(POOLS + ACCOUNTS), st.just("why"), moments, moments),
    tried,
)


@dataclass(frozen=True)
class Case:
    """One decision: what was asked, and the step. `past` is what the history amounts to."""

    asked: Ticket
    history: History
    fleet: Snapshot
    said: Rules
    step: Step
    past: Past


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any decision at all."""
    asked, history, fleet, said = draw(tickets()), draw(histories()), draw(snapshots()), draw(rulebooks())
    return Case(asked, history, fleet, said, decide(asked, fleet, history, said), recall(history))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Facts in any order, as `extend` keeps them."""
    history: History = ()
    for fact in draw(st.lists(facts, max_size=4)):
        history = extend(history, fact)
    return history
