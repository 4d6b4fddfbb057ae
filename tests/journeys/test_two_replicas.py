"""Two replicas share a fleet: no slot is given twice, and every request is answered once."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from loadtests.emulators import Speed
from tests.journeys import rawstore
from tests.journeys.client import Answered, clients, until
from tests.journeys.stack import stack

REQUESTS = 200
SLOTS = 2
STEADY = Speed(fixed_s=0.12, per_step_mp_s=0.05)


async def test_two_hundred_at_once_on_eight_slots(tmp_path: Path) -> None:
    with stack(tmp_path, gateways=2, workers=4, slots=SLOTS, speed=STEADY) as running:
        async with clients(*running.urls) as both:
            answers = await asyncio.gather(*(both[i % 2].make(f"boat {i}", seed=i) for i in range(REQUESTS)))
        assert Counter(answer.status for answer in answers) == {200: REQUESTS}
        assert running.workers.most_at_once() == {f"w-{i}": SLOTS for i in range(4)}
        everybody_got_his_own(answers)
        made = running.made()
        assert set(made) == {answer.job for answer in answers}
        assert set(made.values()) == {1}
        paid = [answer.job for answer in answers if answer.route == "external"]
        assert sorted(row["job"] for row in running.fal.rows("billed")) == sorted(paid)
        await until(lambda: not rawstore.leases(running.store.url))
        assert rawstore.waiting(running.store.url) == 0
        assert rawstore.paid_attempts(running.store.url) == 0


def everybody_got_his_own(answers: list[Answered]) -> None:
    """The picture is of the request's seed, and was made for its job."""
    for number, answer in enumerate(answers):
        (mark,) = answer.marks()
        assert (mark["spillover-seed"], mark["spillover-job"]) == (str(number), answer.job)
