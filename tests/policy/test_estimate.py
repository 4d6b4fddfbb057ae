"""More work never takes less time; a provider's time follows the work, not our loading."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.contract import Generation
from router.model.rules import Profile
from router.policy.estimate import Estimate, at_provider, attempt_budget, in_slot
from tests.policy.playbook import LORA, generation, model, offer
from tests.policy.worlds import generations

profiles = st.builds(
    Profile, st.floats(0, 5), st.floats(0.001, 2), st.floats(0, 2), st.floats(0, 1), st.floats(0, 30)
)


def test_the_parts_add_up() -> None:
    profile = Profile(fixed_s=1.0, per_step_mp_s=0.1, per_mp_s=0.5, spread=0.1, setup_s=3.0)
    asked = generation(width=2000, count=2, steps=20)
    assert in_slot(profile, asked, 2.0) == Estimate(pytest.approx(11.0), pytest.approx(13.2))
    assert in_slot(profile, replace(asked, loras=(LORA,)), 2.0).mean == pytest.approx(14.0)


@given(profiles, generations, st.integers(1, 9), st.floats(0, 4))
def test_more_work_never_takes_less(profile: Profile, asked: Generation, more: int, sigmas: float) -> None:
    base = in_slot(profile, asked, sigmas)
    assert base.upper >= base.mean > 0
    for bigger in (
        replace(asked, steps=asked.steps + more),
        replace(asked, count=asked.count + more),
        replace(asked, width=asked.width + more),
        replace(asked, height=asked.height + more),
    ):
        assert in_slot(profile, bigger, sigmas).mean >= base.mean
    assert in_slot(profile, asked, sigmas + 1).upper >= base.upper


def test_a_provider_needs_its_usual_time_for_a_usual_image_and_never_less() -> None:
    assert at_provider(offer(), model(), generation(), 2.0) == Estimate(4.0, 6.0)
    assert at_provider(offer(), model(), generation(width=64, steps=1), 2.0).mean == 4.0


def test_a_provider_s_time_grows_with_the_work() -> None:
    assert at_provider(offer(), model(), generation(count=3), 2.0).mean == pytest.approx(8.0)
    assert at_provider(offer(), model(), generation(width=2048, height=2048), 2.0).mean == pytest.approx(
        4.0 * (1 + 4.194304) / (1 + 1.048576)
    )


def test_loading_a_lora_on_prem_says_nothing_about_a_provider() -> None:
    """Regression: a slow load on-prem made every provider look too slow."""
    slow = replace(model(), profile=Profile(1.0, 0.1, setup_s=60.0))
    assert at_provider(offer(), slow, generation(loras=(LORA,)), 2.0).mean == 4.0


@given(st.floats(0.01, 100), st.floats(-10, 500))
def test_a_budget_is_positive_and_within_the_deadline(upper: float, left_s: float) -> None:
    budget = attempt_budget(Estimate(upper / 2, upper), left_s)
    assert 0.05 <= budget <= max(0.05, left_s)
    assert budget <= max(10.0, 3 * upper)
