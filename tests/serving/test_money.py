"""What is bought, for whom, and what a client waits for."""

from __future__ import annotations

import asyncio

import pytest

from router.serving.run import TWIN_S
from tests.serving.houses import House, house, until

pytestmark = pytest.mark.anyio
ALWAYS = -1


async def close_the_house(home: House) -> None:
    await home.parts.gate.flags.put("pool", "onprem", reason="t", actor="t", expires_s=None, revision=None)
    await home.parts.lookout.watch_once("onprem")


async def test_a_hung_cancel_does_not_hold_the_client(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "stuck_in_progress", "times": ALWAYS})
        asked = home.parts.gate.clock.monotonic()
        answer = await home.make(home.ticket(2.0))
        assert home.parts.gate.clock.monotonic() - asked < 3.5
        assert (answer.images, answer.paid, answer.retryable) == ((), True, False)
        await until(lambda: home.parts.lookout.snapshot.accounts["fal"].in_flight == 0, 8)


async def test_a_client_who_left_buys_nothing_more(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.fal.faults.set({"kind": "rate_limited", "times": ALWAYS, "retry_after": 1})
        run = home.parts.desk.submit(home.ticket(10.0))
        assert run is not None
        await until(lambda: run.paid)
        run.left()
        await until(lambda: len(home.parts.desk) == 0, 3)
        await home.fal.faults.set()
        assert home.fal.ledger.count("submitted") == 0


async def test_images_that_are_there_are_delivered_without_the_missing_ones(redis_url: str) -> None:
    async with house(redis_url, 1, pools__fal__daily_budget_usd="0.01") as home:
        await home.fleet.set_faults({"kind": "truncated_image", "times": ALWAYS, "match_prompt": "broken"})
        whole = await home.make(home.ticket(count=3))
        assert (whole.reason, len(whole.images), whole.missing) == ("done", 3, 0)
        none = await home.make(home.ticket(2.0, prompt="broken", count=3))
        assert (none.images, none.missing) == ((), 3)


async def test_what_was_billed_is_booked_even_if_it_could_not_be_fetched(redis_url: str) -> None:
    async with house(redis_url) as home:
        await close_the_house(home)
        await home.make(home.ticket(count=3))
        await until(lambda: home.parts.lookout.books["fal"].attempts == 1)
        assert home.parts.lookout.books["fal"].spent == 3 * 30_000


async def test_a_listener_who_comes_back_keeps_the_run_alive(redis_url: str) -> None:
    assert TWIN_S > 1
    async with house(redis_url) as home:
        run = home.parts.desk.submit(home.ticket(joinable=True), twin="k")
        assert run is not None
        first = asyncio.ensure_future(run.answer())
        first.cancel()
        await asyncio.wait({first})
        run.left()
        assert (await run.answer()).done
