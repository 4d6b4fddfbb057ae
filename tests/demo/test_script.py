"""The traffic: a fixed rate, replicas in turn, and long work right before the claim."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

import pytest

from loadtests.demo.script import BATCH_S, Script, written

PROMPTS = files("loadtests").joinpath("prompts.txt").read_text(encoding="utf-8").splitlines()


def script(images: int = 240, rate: float = 6.8, seed: int = 7) -> Script:
    return written(PROMPTS, images, rate, seed, 2)


def test_there_are_enough_prompts_and_all_are_different() -> None:
    assert len(PROMPTS) >= 300
    assert len(set(PROMPTS)) == len(PROMPTS)
    assert all(10 < len(prompt) < 200 and prompt == prompt.strip() for prompt in PROMPTS)


def test_the_rate_is_fixed_and_replicas_take_turns() -> None:
    orders = script().orders
    gaps = {round(after.at_s - before.at_s, 6) for before, after in pairwise(orders)}
    assert gaps == {round(1 / 6.8, 6)}
    assert [order.replica for order in orders[:4]] == [0, 1, 0, 1]
    assert [order.number for order in orders] == list(range(240))


def test_every_image_has_its_own_seed_and_prompts_come_again_only_when_all_were_used() -> None:
    orders = script(images=400).orders
    assert len({order.seed for order in orders}) == 400
    assert len({order.prompt for order in orders[: len(PROMPTS)]}) == len(PROMPTS)


def test_a_seed_fixes_everything() -> None:
    assert script() == script()
    assert script(seed=8) != script()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("images", [84, 240])
def test_enough_long_work_comes_right_before_the_claim(seed: int, images: int) -> None:
    played = script(images=images, seed=seed)
    late = [o for o in played.orders if played.claim_at_s - BATCH_S - 0.1 <= o.at_s < played.claim_at_s]
    assert sum(order.is_long for order in late) >= 6
    assert sum(order.is_long for order in played.orders) <= 0.08 * images + 11
    assert {order.request_class for order in played.orders if order.is_long} == {"batch"}


def test_the_cues_stand_in_order() -> None:
    played = script()
    assert 0 < played.claim_at_s < played.release_at_s < played.ends_at_s
    assert played.ends_at_s == pytest.approx(240 / 6.8)
