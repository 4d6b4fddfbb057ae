"""Where a ticket could run: on-prem candidates with their predicted start, providers with their price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from zlib import crc32

from providers.contract import Generation
from router.model.fleet import Snapshot, WorkerView
from router.model.money import price_at
from router.model.rules import HomePool, ModelRules, Offer, Rules
from router.model.ticket import Ticket
from router.policy.estimate import Estimate, at_provider
from router.policy.forecast import NEVER, Forecast
from router.policy.history import Past

MAX_PREFERRED = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """An on-prem pool that can honour the whole generation. `start`: predicted, store time, and not before
    `barred_until`. `avoid`: workers that failed it, as long as another one would take it."""

    home: HomePool
    lane: str
    start: float
    barred_until: float
    preferred: tuple[str, ...]
    avoid: tuple[str, ...]
    claimed: int


@dataclass(frozen=True, slots=True)
class Paid:
    """A provider that can honour it, at `price` micro-USD."""

    offer: Offer
    price: int
    estimate: Estimate


def lane_of(home: HomePool, generation: Generation) -> str | None:
    """The lane this generation waits in at that pool; `None` if the pool cannot honour it.

    A LoRA that is server-global is part of the lane: only workers that carry it serve it.
    """
    if not generation.loras or home.capabilities.loras:
        return generation.model if home.capabilities.refuses(generation) is None else None
    plain = replace(generation, loras=())
    lora = generation.loras[0]
    pinned = len(generation.loras) == 1 and lora.weight == 1.0 and lora.name in home.pinned
    return f"{generation.model}+{lora.name}" if pinned and home.capabilities.refuses(plain) is None else None


def onprem_candidates(
    ticket: Ticket,
    model: ModelRules,
    past: Past,
    snapshot: Snapshot,
    forecasts: Mapping[str, Forecast],
    rank: float,
    need_s: float,
    now: float,
) -> list[Candidate]:
    """Pools that can honour the ticket, its home first."""
    found = []
    for home in model.homes:
        lane = lane_of(home, ticket.generation)
        pool = snapshot.pools.get(home.name)
        if lane is None or pool is None:
            continue
        serving = [worker for worker in pool.workers if lane in worker.lanes]
        barred_until = past.barred.get(home.name, 0.0) if past.standing != home.name else 0.0
        start = forecasts[home.name].start(lane, rank, need_s) if pool.open else NEVER
        free = _free(serving, past, now + need_s) if pool.open and barred_until <= now else []
        others = any(worker.takes_work and worker.id not in past.shunned for worker in serving)
        found.append(
            Candidate(
                home=home,
                lane=lane,
                start=max(start, barred_until),
                barred_until=barred_until,
                preferred=_preferred(free, ticket),
                avoid=past.shunned if others else (),
                claimed=sum(worker.claimed for worker in serving),
            )
        )
    return found


def _free(serving: list[WorkerView], past: Past, ends_at: float) -> list[WorkerView]:
    """Workers that would take it now. On one that is about to close, only what ends before is started."""
    return [
        worker
        for worker in serving
        if worker.takes_work
        and worker.free
        and worker.id not in past.shunned
        and (worker.closes_at is None or ends_at <= worker.closes_at)
    ]


def _preferred(free: list[WorkerView], ticket: Ticket) -> tuple[str, ...]:
    """The freest workers first; ties are spread by the ticket, so that replicas do not all ask for one."""
    free.sort(
        key=lambda worker: (
            worker.closes_at is not None,
            len(worker.ends) / worker.slots,
            crc32(f"{ticket.id}/{worker.id}".encode()),
            worker.id,
        )
    )
    return tuple(worker.id for worker in free[:MAX_PREFERRED])


def fitting_offers(ticket: Ticket, model: ModelRules) -> tuple[Offer, ...]:
    """Providers that could honour every parameter of the ticket, whatever they cost and however they fare."""
    return tuple(offer for offer in model.offers if _fits(offer, ticket.generation))


def payable_offers(
    ticket: Ticket, model: ModelRules, past: Past, snapshot: Snapshot, now: float
) -> list[tuple[Offer, int]]:
    """Providers that are allowed to take the missing images, with the price; some may be full or cooling."""
    if not ticket.tenant.external or not snapshot.overflow_open:
        return []
    if past.paid_closed and not ticket.tenant.allow_double_spend:
        return []
    wanted = replace(ticket.generation, count=past.missing(ticket))
    found = []
    for offer in fitting_offers(ticket, model):
        price, account = price_at(offer.prices, now), snapshot.accounts.get(offer.pool)
        if price is None or account is None or not account.open:
            continue
        if account.committed + price.of(wanted) <= account.budget:
            found.append((offer, price.of(wanted)))
    return found


def paid_options(
    ticket: Ticket, model: ModelRules, past: Past, snapshot: Snapshot, rules: Rules, now: float
) -> list[Paid]:
    """Providers that would take the missing images now, the cheapest first, ties by name."""
    wanted = replace(ticket.generation, count=past.missing(ticket))
    found = [
        Paid(offer, price, at_provider(offer, model, wanted, rules.sigmas))
        for offer, price in payable_offers(ticket, model, past, snapshot, now)
        if _has_room(offer, past, snapshot, now)
    ]
    return sorted(found, key=lambda paid: (paid.price, paid.offer.pool))


def may_pay_later(
    ticket: Ticket, model: ModelRules, past: Past, snapshot: Snapshot, rules: Rules, now: float
) -> bool:
    """Could a provider that is full or cooling now still make it before the deadline?"""
    wanted = replace(ticket.generation, count=past.missing(ticket))
    return any(
        _free_at(offer, past, snapshot, now) + at_provider(offer, model, wanted, rules.sigmas).mean
        <= ticket.deadline
        for offer, _ in payable_offers(ticket, model, past, snapshot, now)
    )


def _free_at(offer: Offer, past: Past, snapshot: Snapshot, now: float) -> float:
    return max(now, past.barred.get(offer.pool, 0.0), snapshot.accounts[offer.pool].cooling_until)


def _fits(offer: Offer, generation: Generation) -> bool:
    if offer.max_steps is not None and generation.steps > offer.max_steps:
        return False
    known = all(lora.name in offer.loras for lora in generation.loras)
    return known and offer.capabilities.refuses(generation) is None


def _has_room(offer: Offer, past: Past, snapshot: Snapshot, now: float) -> bool:
    account = snapshot.accounts[offer.pool]
    return account.in_flight < account.concurrency and _free_at(offer, past, snapshot, now) <= now
