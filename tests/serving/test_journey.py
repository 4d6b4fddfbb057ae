"""A journey's books: what is there is delivered, and what may not have been spent stops binding."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref

import pytest

from providers.contract import Failed, Fault, Generation, Image, Produced, Spent
from router.model.step import Stop
from router.model.ticket import Tenant, Ticket
from router.serving.answer import Answer
from router.serving.bells import Bell
from router.serving.journey import Journey
from router.serving.run import Run
from router.serving.twins import Twins
from router.store.clock import StoreClock

pytestmark = pytest.mark.anyio
IMAGE = Image("QUJD", "image/png", 8, 8)


def ticket(count: int = 1) -> Ticket:
    generation = Generation("m", "p", 8, 8, 4, count)
    return Ticket("job-1", generation, Tenant("t"), "standard", 0.0, 10.0, joinable=True)


def journey(run: Run) -> Journey:
    clock = StoreClock(time.monotonic, lambda: 0.0)
    return Journey(run.ticket, clock, Bell(), run)


async def test_two_of_three_images_are_delivered_and_the_third_is_named_missing() -> None:
    run = Run(ticket(3))
    way = journey(run)
    way.next_attempt()
    way.ended(Produced((IMAGE, IMAGE)), "house", "w1", "onprem", "onprem", way.start_running(), 0)
    assert way.wanted().count == 1
    answer = way.stop(Stop("upstream_error"), "upstream_error")
    assert (len(answer.images), answer.missing, answer.reason, answer.done) == (2, 1, "upstream_error", False)


async def test_an_attempt_that_cost_nothing_frees_the_run_and_the_answer_remembers_it() -> None:
    run = Run(ticket())
    way = journey(run)
    way.pay()
    assert run.paid
    way.ended(
        Failed(Fault.REFUSED, "busy", spent=Spent.NO), "fal", "", "external", "x", way.start_running(), 0
    )
    assert way.stop(Stop("no_capacity"), "no_capacity").paid, (
        "a blind retry by the client is still not asked for"
    )


async def test_finished_answers_are_kept_within_a_cap() -> None:
    twins, runs = Twins(cap_bytes=10), []
    for name in ("a", "b", "c"):
        run = Run(ticket())
        task = asyncio.ensure_future(finished(Answer("done", images=(IMAGE,))))
        run.start(task)
        await task
        twins.add(name, run)
        twins.ended(name, run)
        runs.append(run)
    assert [twins.find(name) for name in ("a", "b", "c")] == [None, runs[1], runs[2]]
    evicted = weakref.ref(runs[0])
    runs.clear()
    del run, task
    gc.collect()
    assert evicted() is None, "nothing else may keep an answer that had to make room"


async def finished(answer: Answer) -> Answer:
    return answer
