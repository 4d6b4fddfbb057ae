"""Every dialect passes the same scenes, against the emulator of its server.

An emulator is an independent reading of the dialect, and its ledger the witness: what the provider says about
an attempt is compared with what really happened.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest

from loadtests.emulators import Ledger, Speed, fal_queue, prompt_mark, read_marks, sglang_workers
from providers.contract import (
    Accepted,
    Call,
    Cancelled,
    Ended,
    Event,
    Failed,
    Fault,
    Produced,
    Provider,
    Spent,
)
from providers.http import Http, Limits, open_http
from providers.registry import connect
from tests.providers.scripted import call, failure, generation, run

QUICK = Speed(fixed_s=0.02, per_step_mp_s=0.0)
MODEL = "black-forest-labs/FLUX.1-dev"
Switch = Callable[..., Awaitable[None]]


@dataclass(frozen=True)
class Stand:
    """One dialect with its emulator: the provider, the witness, the switches, and the name of a model."""

    provider: Provider
    ledger: Ledger
    set_faults: Switch
    target: str
    paid: bool

    def call(self, **changes: Any) -> Call:
        return call(changes.pop("wanted", generation()), target=self.target, **changes)


@asynccontextmanager
async def _worker(variant: str, http: Http) -> AsyncIterator[Stand]:
    async with sglang_workers(1, model=MODEL, variant=variant, speed=QUICK) as fleet:
        provider = connect("openai_images", {"server": variant}, http, fleet.urls[0], None)
        yield Stand(provider, fleet.ledger, fleet.set_faults, MODEL, paid=False)


@asynccontextmanager
async def _fal(http: Http) -> AsyncIterator[Stand]:
    polls = {"poll_first_s": 0.01, "poll_longest_s": 0.05}
    async with fal_queue(speed=QUICK, keys=frozenset({"id:secret"})) as fal:
        provider = connect("fal", polls, http, fal.url, "id:secret")
        yield Stand(provider, fal.ledger, fal.set_faults, "fal-ai/flux/dev", paid=True)


STANDS: Mapping[str, Callable[[Http], Any]] = {
    "sglang": lambda http: _worker("sglang", http),
    "vllm_omni": lambda http: _worker("vllm_omni", http),
    "fal": _fal,
}


@pytest.fixture(params=STANDS)
async def stand(request: pytest.FixtureRequest, http: Http) -> AsyncIterator[Stand]:
    async with STANDS[request.param](http) as ready:
        yield ready


def _faults(stand: Stand, workers: str, queue: str, **params: Any) -> dict[str, Any]:
    """The same scene in the words of each emulator."""
    return {"kind": queue if stand.paid else workers, "times": -1, **params}


# ------------------------------------------------------------------------------------------------- happy


async def test_happy(stand: Stand) -> None:
    wanted = generation(count=2, seed=7, guidance_scale=3.0)
    events, outcome = await run(stand.provider, stand.call(wanted=wanted))
    assert isinstance(outcome, Produced)
    assert [(image.width, image.height, image.media_type) for image in outcome.images] == [
        (64, 64, "image/png")
    ] * 2
    marks = [read_marks(base64.b64decode(image.b64)) for image in outcome.images]
    assert {mark["spillover-job"] for mark in marks} == {"job"}
    assert {mark["spillover-prompt"] for mark in marks} == {prompt_mark("a red fox")}
    assert [mark["spillover-index"] for mark in marks] == ["0", "1"]
    assert (outcome.units is not None, isinstance(events[0], Accepted)) == (stand.paid, stand.paid)
    assert {row["fence"] for row in stand.ledger.rows("started")} == {7}


async def test_many_at_once(stand: Stand) -> None:
    answers = await asyncio.gather(
        *(run(stand.provider, stand.call(attempt=f"j{number}.1", budget_s=30.0)) for number in range(30))
    )
    jobs = [
        read_marks(base64.b64decode(outcome.images[0].b64))["spillover-job"]
        for _, outcome in answers
        if isinstance(outcome, Produced)
    ]
    assert jobs == [f"j{number}" for number in range(30)]


# ----------------------------------------------------------------------------------- refused, overloaded


async def test_refused(stand: Stand) -> None:
    """What the server finds wrong with the request is final."""
    if stand.paid:
        await stand.set_faults({"kind": "content_policy"})
        failed = await failure(stand.provider, stand.call())
        assert (failed.code, failed.spent) == ("content_policy", Spent.POSSIBLE)
    else:
        failed = await failure(stand.provider, stand.call(wanted=generation(width=9000)))
        assert failed.code == "invalid_request"
    assert (failed.fault, failed.ended) == (Fault.DETERMINISTIC, Ended.YES)


async def test_overloaded(stand: Stand) -> None:
    await stand.set_faults(_faults(stand, "error503", "rate_limited", retry_after=9))
    failed = await failure(stand.provider, stand.call())
    assert (failed.fault, failed.ended, failed.spent) == (Fault.REFUSED, Ended.YES, Spent.NO)
    assert failed.retry_after_s == (9.0 if stand.paid else None)
    assert stand.ledger.count("started") == 0


async def test_failed_work_has_ended(stand: Stand) -> None:
    await stand.set_faults(_faults(stand, "oom", "model_error500"))
    failed = await failure(stand.provider, stand.call())
    assert (failed.fault, failed.ended, failed.spent) == (Fault.FAILED_KNOWN, Ended.YES, Spent.NO)
    assert failed.code == ("server_error" if stand.paid else "out_of_memory")


# ----------------------------------------------------------------------------------------- broken midway


async def test_broken_midway(stand: Stand) -> None:
    """The reply to the request is lost after the server has it: nobody can know what became of it."""
    await stand.set_faults(_faults(stand, "reply_lost", "submit_reply_lost"))
    failed = await failure(stand.provider, stand.call())
    assert (failed.fault, failed.ended) == (Fault.AMBIGUOUS, Ended.UNKNOWN)
    assert failed.spent is (Spent.POSSIBLE if stand.paid else Spent.NO)
    await stand.ledger.until(
        lambda ledger: ledger.count("finished", "completed") == 1
    )  # done after all, once


async def test_a_body_cut_short(stand: Stand) -> None:
    await stand.set_faults(_faults(stand, "reset_after_bytes", "bad_status_json", bytes=300))
    failed = await failure(stand.provider, stand.call(budget_s=0.7))
    assert (failed.fault, failed.ended) == (Fault.AMBIGUOUS, Ended.UNKNOWN)


async def test_nobody_there(stand: Stand, http: Http) -> None:
    kind, settings = ("fal", {}) if stand.paid else ("openai_images", {"server": "sglang"})
    gone = connect(kind, cast(dict[str, object], settings), http, "http://127.0.0.1:9", None)
    failed = await failure(gone, stand.call())
    assert (failed.fault, failed.ended, failed.spent) == (Fault.NOT_SENT, Ended.YES, Spent.NO)


async def test_the_send_window_is_kept(stand: Stand) -> None:
    failed = await failure(stand.provider, stand.call(send_by=time.monotonic() - 0.001))
    assert (failed.fault, failed.code) == (Fault.NOT_SENT, "send_window_closed")
    assert stand.ledger.rows("received", "submitted") == []


# ------------------------------------------------------------------------------------------ slow, cancelled


async def test_slow(stand: Stand) -> None:
    """The budget bounds the attempt; what the server goes on doing is not known."""
    await stand.set_faults(_faults(stand, "hang", "stuck_in_progress"))
    began = time.monotonic()
    failed = await failure(stand.provider, stand.call(budget_s=0.5))
    assert time.monotonic() - began < 2.0
    assert (failed.fault, failed.code, failed.ended) == (Fault.AMBIGUOUS, "deadline", Ended.UNKNOWN)
    await stand.set_faults()


@pytest.mark.parametrize("variant", ["sglang", "vllm_omni"])
async def test_a_dripping_body(http: Http, variant: str) -> None:
    async with _worker(variant, http) as stand:
        await stand.set_faults({"kind": "slow_body", "times": -1, "piece": 1, "pause_s": 0.05})
        failed = await failure(stand.provider, stand.call(budget_s=0.5))
    assert (failed.fault, failed.code) == (Fault.AMBIGUOUS, "deadline")


async def test_cancelled(stand: Stand) -> None:
    """Leaving early is silent; what it does to the work is what the dialect says it does."""
    await stand.set_faults(_faults(stand, "hang", "stuck_in_progress"))
    handle: dict[str, str] = {}
    started = asyncio.Event()

    async def attempt() -> None:
        async with aclosing(cast(Any, stand.provider.start(stand.call()))) as events:
            async for event in events:
                if isinstance(event, Accepted):
                    handle.update(event.handle)
                    started.set()

    task = asyncio.create_task(attempt())
    await stand.ledger.until(lambda ledger: ledger.count("started") == 1)
    if stand.paid:
        await started.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    cancelled = await stand.provider.cancel(handle)
    assert cancelled is (Cancelled.SIGNALLED if stand.paid else Cancelled.UNSUPPORTED)
    if stand.provider.capabilities.cancels_on_disconnect or stand.paid:
        await stand.ledger.until(lambda ledger: ledger.count("cancelled") == 1)
    else:
        assert (await stand.provider.health(0.2)).idle is False
    await stand.set_faults()


async def test_resumed(stand: Stand) -> None:
    """After a restart of the router the handle alone finds the work, and nothing is submitted twice."""
    await stand.set_faults(_faults(stand, "slow", "slow", factor=10.0))
    handle: Mapping[str, str] = {}
    if stand.paid:
        async with aclosing(cast(Any, stand.provider.start(stand.call()))) as events:
            handle = (await anext(events)).handle
    resumed: list[Event] = [event async for event in stand.provider.resume(handle, stand.call())]
    if stand.paid:
        assert isinstance(resumed[-1], Produced)
        assert stand.ledger.count("submitted") == 1
    else:
        assert resumed == [Failed(Fault.AMBIGUOUS, "cannot_resume", ended=Ended.UNKNOWN)]


# ------------------------------------------------------------------------------ malformed, too large, moved


@pytest.mark.parametrize(
    ("workers", "queue"),
    [
        ("garbage", "result_garbage"),
        ("empty_data", "missing_image"),
        ("truncated_image", "truncated_image"),
        ("not_an_image", "not_an_image"),
    ],
)
async def test_malformed(stand: Stand, workers: str, queue: str) -> None:
    await stand.set_faults(_faults(stand, workers, queue))
    failed = await failure(stand.provider, stand.call())
    assert (failed.fault, failed.ended) == (Fault.UNUSABLE, Ended.YES)
    assert failed.spent is (Spent.YES if stand.paid else Spent.NO)


@pytest.mark.parametrize("name", STANDS)
async def test_too_large(name: str) -> None:
    """The JSON of the fal queue passes under the cap, its media does not; a worker's JSON is the image."""
    async with open_http(limits=Limits(response_bytes=4_000)) as small, STANDS[name](small) as stand:
        failed = await failure(stand.provider, stand.call(wanted=generation(width=768, height=768)))
    assert failed.fault is Fault.UNUSABLE
    assert failed.code == ("result_unavailable" if stand.paid else "response_too_large")
    assert failed.spent is (Spent.YES if stand.paid else Spent.NO)


# ------------------------------------------------------------------------------------------------ by server


async def test_health(stand: Stand) -> None:
    health = await stand.provider.health(1.0)
    assert (health.reachable, health.ready) == (True, True)
    assert health.idle is (True if stand.provider.capabilities.reports_idle else None)


@pytest.mark.parametrize("variant", ["sglang", "vllm_omni"])
async def test_idle_follows_the_work(http: Http, variant: str) -> None:
    async with _worker(variant, http) as stand:
        await stand.set_faults({"kind": "slow", "factor": 30.0})
        async with asyncio.TaskGroup() as group:
            running = group.create_task(run(stand.provider, stand.call()))
            await stand.ledger.until(lambda ledger: ledger.count("started") == 1)
            assert (await stand.provider.health(0.1)).idle is False
            await running
            assert (await stand.provider.health(1.0)).idle is True


async def test_the_barrier_waits_for_abandoned_work(http: Http) -> None:
    """SGLang computes on after a disconnect; only the end of that work makes the worker idle."""
    async with _worker("sglang", http) as stand:
        await stand.set_faults({"kind": "slow", "factor": 30.0})
        await failure(stand.provider, stand.call(budget_s=0.1))
        health = await stand.provider.health(5.0)
        assert health.idle is True
        assert stand.ledger.count("finished") == 1


async def test_a_cold_worker_is_not_ready(http: Http) -> None:
    async with sglang_workers(1, model=MODEL, warm_up_s=30.0) as fleet:
        cold = connect("openai_images", {"server": "sglang"}, http, fleet.urls[0], None)
        health = await cold.health(0.5)
        assert (health.reachable, health.ready, health.idle) == (True, False, None)


@pytest.mark.parametrize(
    ("fault", "code"), [("locked403", "provider_credit"), ("bad_key401", "bad_credential")]
)
async def test_an_account_that_is_out(http: Http, fault: str, code: str) -> None:
    async with _fal(http) as stand:
        await stand.set_faults({"kind": fault})
        failed = await failure(stand.provider, stand.call())
    assert (failed.fault, failed.code, failed.spent) == (Fault.BAD_CREDENTIAL, code, Spent.NO)


async def test_queued_work_is_cancelled_for_good(http: Http) -> None:
    async with _fal(http) as stand:
        await stand.set_faults({"kind": "stuck_in_queue"})
        async with aclosing(cast(Any, stand.provider.start(stand.call()))) as events:
            accepted = await anext(events)
        assert await stand.provider.cancel(accepted.handle) is Cancelled.CONFIRMED
        assert await stand.provider.cancel(accepted.handle) is Cancelled.TOO_LATE
        resumed = [event async for event in stand.provider.resume(accepted.handle, stand.call())]
        assert isinstance(resumed[-1], Failed)
        assert (resumed[-1].fault, resumed[-1].code) == (Fault.FAILED_KNOWN, "cancelled")
        assert stand.ledger.rows("billed") == []


async def test_work_that_does_not_start_in_time_is_refused(http: Http) -> None:
    async with _fal(http) as stand:
        await stand.set_faults({"kind": "stuck_in_queue"})
        failed = await failure(stand.provider, stand.call(budget_s=4.0))
    assert (failed.fault, failed.code, failed.spent) == (Fault.REFUSED, "not_started", Spent.NO)


async def test_a_flag_of_the_checker_is_a_refusal(http: Http) -> None:
    async with _fal(http) as stand:
        await stand.set_faults({"kind": "nsfw"})
        failed = await failure(stand.provider, stand.call())
        assert (failed.fault, failed.code) == (Fault.DETERMINISTIC, "content_policy")
        assert failed.spent is Spent.YES
        assert stand.ledger.count("billed") == 1
