"""The next step of one ticket. Start reading here: everything else feeds or obeys this function.

On-prem while a slot is free or comes in time; else wait in the shared queue while waiting is safe; else pay;
else stop, and say why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from providers.contract import Fault
from router.model.fleet import Snapshot
from router.model.rules import ModelRules, Rules
from router.model.step import External, History, OnPrem, Step, Stop, Try, Wait
from router.model.ticket import Ticket
from router.policy.estimate import Estimate, in_slot, slot_budget
from router.policy.forecast import NEVER, Forecast
from router.policy.history import Past, recall
from router.policy.placement import (
    Candidate,
    Paid,
    fitting_offers,
    lane_of,
    may_pay_later,
    onprem_candidates,
    paid_options,
)

LOOK_AGAIN_S = 1.0
"""A waiting ticket is looked at again at least this often, by its replica and without asking the store."""
PATIENCE_S = 1.0
"""A ticket that nothing is in sight for keeps its place this long before it is refused."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A ticket at one moment. `rank`: the latest start that is safe; `last_chance`: that may just do."""

    ticket: Ticket
    past: Past
    model: ModelRules
    rules: Rules
    now: float
    estimate: Estimate
    homes: tuple[Candidate, ...] = ()
    paid: tuple[Paid, ...] = ()
    paid_later: bool = False

    @property
    def left_s(self) -> float:
        return self.ticket.deadline - self.now

    @property
    def rank(self) -> float:
        return self.ticket.deadline - self.estimate.upper - self.rules.guard_s

    @property
    def last_chance(self) -> float:
        return self.ticket.deadline - self.estimate.mean

    @property
    def onprem_over(self) -> bool:
        return not self.homes or self.past.onprem_failures >= self.rules.max_onprem_failures

    @property
    def last_try_is_paid(self) -> bool:
        """Workers that refuse or cannot be reached cost tries too; the last one is for who can be paid."""
        return bool(self.paid) and self.past.onprem_misses >= max(1, self.rules.max_tries - 1)


def next_step(
    ticket: Ticket,
    history: History,
    snapshot: Snapshot,
    forecasts: Mapping[str, Forecast],
    rules: Rules,
    now: float,
) -> Step:
    """What to do with `ticket` at `now` (store time). `forecasts` are those of `snapshot`, by pool."""
    past = recall(history)
    if over := _over(ticket, past, snapshot, rules, now):
        return over
    model = rules.models[ticket.generation.model]
    wanted = replace(ticket.generation, count=past.missing(ticket))
    case = _Case(ticket, past, model, rules, now, in_slot(model.profile, wanted, rules.sigmas))
    need_s = case.estimate.upper
    homes = onprem_candidates(ticket, model, past, snapshot, forecasts, case.rank, need_s, now)
    paid = paid_options(ticket, model, past, snapshot, rules, now)
    case = replace(
        case,
        homes=tuple(homes),
        paid=_in_time(paid, case.left_s),
        paid_later=may_pay_later(ticket, model, past, snapshot, rules, now),
    )
    return _onprem(case) or _spill(case) or _hold_on(case) or _give_up(case)


def _over(ticket: Ticket, past: Past, snapshot: Snapshot, rules: Rules, now: float) -> Stop | None:
    if past.missing(ticket) <= 0:
        return Stop("done")
    failure = past.last_failure()
    if failure and failure.fault is Fault.DETERMINISTIC:
        return Stop(failure.code)
    if now >= ticket.deadline:
        return Stop("deadline_exceeded")
    if ticket.generation.model in snapshot.models_off:
        return Stop("model_off", retry_after_s=30.0)
    if past.tries >= rules.max_tries or past.deaths >= 2:
        return Stop("upstream_error")
    return None


def _onprem(case: _Case) -> Step | None:
    """A slot that is free now in any pool, or the home queue while its slot comes in time."""
    if case.onprem_over or case.last_try_is_paid:
        return None
    if case.past.standing is None:
        for candidate in case.homes:
            if candidate.preferred and case.now <= case.last_chance:
                return _ask(case, candidate)
    if case.homes[0].start > case.rank:
        return None
    if case.past.standing is not None:
        return Wait(_look_again(case), "queued")
    return _queue(case)


def _spill(case: _Case) -> Step | None:
    if not case.paid:
        return None
    chosen = case.paid[0]
    placement = External(chosen.offer.pool, chosen.offer.target, chosen.price, max(0.05, case.left_s))
    return Try(placement, _why_spilled(case))


def _hold_on(case: _Case) -> Step | None:
    """Neither a slot in time nor anybody to pay right now: keep or take a place while that may still change.

    The picture may be a moment old, so even the hopeless ask once and stand for a little while.
    """
    if not case.onprem_over and case.now < case.last_chance and (step := _stand_by(case)):
        return step
    if case.paid_later and case.left_s > case.rules.retry_hold_s:
        return Wait(case.now + case.rules.retry_hold_s, "no_capacity_yet")
    return None


def _stand_by(case: _Case) -> Step | None:
    past, home = case.past, case.homes[0]
    hopeful = case.paid_later or home.start <= case.last_chance
    if past.standing is None:
        asked_before = past.queued_at is not None or home.home.name in past.barred
        return _queue(case) if hopeful or not asked_before else None
    since = case.now if past.queued_at is None else past.queued_at
    patient_until = case.last_chance if hopeful else min(case.last_chance, since + PATIENCE_S)
    if case.now >= patient_until:
        return None
    return Wait(min(patient_until, case.now + LOOK_AGAIN_S), "no_capacity_yet")


def _give_up(case: _Case) -> Stop:
    if case.past.tries:
        return Stop("upstream_error")
    if case.homes and case.now > case.last_chance and case.past.queued_at is None:
        return Stop("deadline_exceeded")  # shorter than the work itself: nothing was started
    if not _can_be_honoured(case):
        return Stop("unsupported_parameter")
    starts = [candidate.start for candidate in case.homes if candidate.start < NEVER]
    wait = min(120.0, max(1.0, min(starts) - case.now)) if starts else 15.0
    return Stop("no_capacity", retry_after_s=wait)


def _can_be_honoured(case: _Case) -> bool:
    """Is there anybody at all who honours every parameter, and to whom this tenant's requests may go?"""
    generation = case.ticket.generation
    onprem = any(lane_of(home, generation) is not None for home in case.model.homes)
    return onprem or (case.ticket.tenant.external and bool(fitting_offers(case.ticket, case.model)))


def _queue(case: _Case) -> Step:
    """A place in the home queue, as soon as that pool may be asked again."""
    home = case.homes[0]
    if home.barred_until > case.now:
        return Wait(min(home.barred_until, case.now + LOOK_AGAIN_S), "no_capacity_yet")
    return _ask(case, home)


def _ask(case: _Case, candidate: Candidate) -> Try:
    placement = OnPrem(
        pool=candidate.home.name,
        lane=candidate.lane,
        rank=case.rank,
        need_s=case.estimate.upper,
        budget_s=slot_budget(case.estimate),
        preferred=candidate.preferred,
        avoid=candidate.avoid,
        queue=candidate is case.homes[0],
    )
    return Try(placement, "onprem")


def _in_time(options: list[Paid], left_s: float) -> tuple[Paid, ...]:
    """Those that meet the deadline almost surely, cheapest first; else those that may, quickest first."""
    sure = [paid for paid in options if paid.estimate.upper <= left_s]
    perhaps = [paid for paid in options if paid.estimate.mean <= left_s]
    return tuple(sure or sorted(perhaps, key=lambda paid: (paid.estimate.mean, paid.offer.pool)))


def _look_again(case: _Case) -> float:
    """No later than the last moment at which the cheapest provider is still safe, if that is to come."""
    latest = case.rank
    if case.paid:
        safe_until = case.ticket.deadline - case.paid[0].estimate.upper - case.rules.guard_s
        latest = min(latest, safe_until) if safe_until > case.now else latest
    return min(max(latest, case.now + 0.05), case.now + LOOK_AGAIN_S)


def _why_spilled(case: _Case) -> str:
    if case.past.onprem_failures or case.last_try_is_paid:
        return "onprem_failed"
    if not case.homes:
        return "onprem_cannot"
    if case.homes[0].claimed:
        return "onprem_claimed"
    if case.homes[0].start == NEVER:
        return "onprem_unavailable"
    return "onprem_too_slow" if case.homes[0].preferred else "onprem_saturated"
