"""Where a ticket runs on-prem: which pool, which lane, which workers first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from providers.contract import Capabilities, Fault, Lora
from router.model.fleet import PoolView, WorkerView
from router.model.step import OnPrem, Try
from router.model.ticket import Tenant
from router.policy.placement import MAX_PREFERRED
from tests.policy.playbook import (
    LORA,
    NOW,
    RANK,
    Play,
    decide,
    failed,
    home,
    lost_race,
    offer,
    pool,
    rules,
    say,
    snapshot,
    ticket,
    worker,
)


def placed(step: object) -> OnPrem:
    assert isinstance(step, Try)
    assert isinstance(step.placement, OnPrem)
    return step.placement


def test_a_free_slot_is_taken_on_prem() -> None:
    step = decide(ticket(), snapshot(pool(worker("w1"))))
    at = placed(step)
    assert (at.pool, at.lane, at.preferred, at.avoid, at.queue) == ("home", "krea", ("w1",), (), True)
    assert (at.rank, at.need_s, at.budget_s) == (pytest.approx(RANK), pytest.approx(2.4), pytest.approx(10.0))
    assert isinstance(step, Try)
    assert step.reason == "onprem"


def test_the_freest_workers_come_first_and_those_about_to_close_last() -> None:
    fleet = snapshot(
        pool(
            worker("half", NOW + 5, slots=2),
            worker("closing", closes_at=NOW + 60, claimed=True),
            worker("empty", slots=2),
            worker("full", NOW + 5),
        )
    )
    assert placed(decide(ticket(), fleet)).preferred == ("empty", "half", "closing")


def test_at_most_eight_are_preferred_and_tickets_spread_over_equals() -> None:
    fleet = snapshot(pool(*(worker(f"w{n}") for n in range(20))))
    firsts = set()
    for n in range(20):
        at = placed(decide(replace(ticket(), id=f"job-{n}"), fleet))
        assert len(at.preferred) == MAX_PREFERRED
        firsts.add(at.preferred[0])
    assert len(firsts) > 5


@pytest.mark.parametrize(
    "unfit",
    [
        worker("w1", up=False),
        worker("w1", closed=True),
        worker("w1", NOW + 1),
        worker("w1", lanes=frozenset({"other"})),
        worker("w1", slots=0),
        worker("w1", claimed=True, closes_at=NOW + 2.3),
    ],
    ids=["down", "closed", "full", "other lane", "no slots", "closes too soon"],
)
def test_only_workers_that_would_take_it_are_preferred(unfit: WorkerView) -> None:
    assert placed(decide(ticket(), snapshot(pool(unfit, worker("w2"))))).preferred == ("w2",)


def test_work_that_ends_before_the_drain_is_started() -> None:
    closing = worker("w1", claimed=True, closes_at=NOW + 2.5)
    assert say(decide(ticket(), snapshot(pool(closing)))) == "home w1 or queue (onprem)"


def test_work_that_does_not_fit_before_the_drain_spills_at_once() -> None:
    """Regression: a free slot that closes too soon was taken for one in time, so the ticket waited for it."""
    closing = worker("w1", claimed=True, closes_at=NOW + 2.3)
    assert say(decide(ticket(), snapshot(pool(closing)))) == "fal (onprem_claimed)"
    Play(ticket(), snapshot(pool(closing))).queued().expect("fal (onprem_claimed)")


def test_a_closing_slot_does_not_hide_a_later_one_that_stays_open() -> None:
    fleet = snapshot(pool(worker("w1", claimed=True, closes_at=NOW + 1), worker("w2", NOW + 5)))
    Play(ticket(), fleet).queued().expect("wait queued")


def test_other_pools_are_tried_without_waiting() -> None:
    said = rules(home(), home("spare"))
    fleet = snapshot(pool(worker("w1", NOW + 5)), pool(worker("s1"), name="spare"))
    assert say(decide(ticket(), fleet, said=said)) == "spare s1 (onprem)"
    Play(ticket(), fleet, said).then(lost_race(name="spare")).expect("home or queue (onprem)")


def test_a_ticket_that_stands_in_a_queue_asks_for_no_slot() -> None:
    fleet = snapshot(pool(worker("w1")), pool(worker("s1"), name="spare"))
    Play(ticket(), fleet, rules(home(), home("spare"))).queued().expect("wait queued")


def test_a_worker_that_failed_it_is_avoided_while_another_would_take_it() -> None:
    fleet = snapshot(pool(worker("w1"), worker("w2")))
    at = placed(decide(ticket(), fleet, (failed(Fault.REFUSED),)))
    assert (at.preferred, at.avoid) == (("w2",), ("w1",))


@pytest.mark.parametrize("other", [[], [worker("w2", up=False)], [worker("w2", closed=True)]])
def test_the_only_worker_that_would_take_it_is_not_avoided(other: list[WorkerView]) -> None:
    """Regression: workers that are down counted as others, so a ticket waited for them in vain."""
    at = placed(decide(ticket(), snapshot(pool(worker("w1"), *other)), (failed(Fault.REFUSED),)))
    assert (at.preferred, at.avoid, at.queue) == ((), (), True)


@pytest.mark.parametrize(
    ("given", "lane"),
    [
        ({}, "krea"),
        ({"loras": (LORA,)}, "krea+ink"),
    ],
)
def test_a_lora_that_is_pinned_has_a_lane_of_its_own(given: dict[str, object], lane: str) -> None:
    lanes = frozenset({"krea", "krea+ink"})
    fleet = snapshot(pool(worker("w1", lanes=lanes)))
    assert placed(decide(ticket(**given), fleet, said=rules(home(pinned=frozenset({"ink"}))))).lane == lane


def test_a_lora_that_is_loaded_per_request_is_no_lane() -> None:
    said = rules(home(capabilities=Capabilities(loras=True)))
    assert placed(decide(ticket(loras=(LORA,)), snapshot(pool(worker("w1"))), said=said)).lane == "krea"


@pytest.mark.parametrize(
    "loras", [(Lora("oil"),), (Lora("ink", 0.5),), (LORA, Lora("oil"))], ids=["unknown", "weighted", "two"]
)
def test_a_lora_that_cannot_be_honoured_as_asked_goes_to_who_can(loras: tuple[Lora, ...]) -> None:
    knows = offer(loras={"ink": "u", "oil": "v"}, capabilities=Capabilities(loras=True))
    said = rules(home(pinned=frozenset({"ink"})), offers=(knows,))
    fleet = snapshot(pool(worker("w1", lanes=frozenset({"krea", "krea+ink"}))))
    assert say(decide(ticket(loras=loras), fleet, said=said)) == "fal (onprem_cannot)"


@pytest.mark.parametrize(
    "given",
    [
        {"loras": (LORA,)},
        {"count": 11},
        {"negative_prompt": "x"},
        {"output_format": "webp"},
    ],
)
def test_what_nobody_honours_is_refused(given: dict[str, object]) -> None:
    assert say(decide(ticket(**given), snapshot(pool(worker("w1"))))) == "stop unsupported_parameter"


def test_a_pinned_lora_does_not_excuse_other_parameters() -> None:
    said = rules(home(pinned=frozenset({"ink"})))
    fleet = snapshot(pool(worker("w1", lanes=frozenset({"krea+ink"}))))
    asked = ticket(loras=(LORA,), negative_prompt="x")
    assert say(decide(asked, fleet, said=said)) == "stop unsupported_parameter"


def test_a_pool_nobody_has_seen_yet_is_no_capacity_and_not_a_bad_request() -> None:
    """Regression: with an empty store the answer was `unsupported_parameter`, which no client retries."""
    assert say(decide(ticket(), snapshot(accounts=()))) == "stop no_capacity"
    assert say(decide(ticket(), snapshot())) == "fal (onprem_cannot)"


def test_what_only_a_provider_honours_is_refused_to_a_tenant_that_stays_in_the_house() -> None:
    knows = offer(loras={"ink": "u"}, capabilities=Capabilities(loras=True))
    asked = ticket(tenant=Tenant("acme", external=False), loras=(LORA,))
    assert say(decide(asked, snapshot(pool(worker("w1"))), said=rules(offers=(knows,)))) == (
        "stop unsupported_parameter"
    )


def test_a_closed_pool_gives_no_slots() -> None:
    fleet = snapshot(PoolView("home", open=False, workers=(worker("w1"),)))
    assert say(decide(ticket(), fleet)) == "fal (onprem_unavailable)"
