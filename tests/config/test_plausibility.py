"""Numbers agree with each other; what is allowed and probably not meant is a warning."""

from __future__ import annotations

import pytest
import yaml

from tests.config.deployments import FULL, changed, loaded, only_problem, without


@pytest.mark.parametrize(
    ("key", "value", "path", "message"),
    [
        ("leases.renew_s", 7.5, "leases.renew_s", "should be less than half of lease_s"),
        ("leases.send_window_s", 15, "leases.send_window_s", "should be less than lease_s"),
        ("leases.offer_s", 15, "leases.offer_s", "should be less than lease_s"),
        ("leases.tend_s", 3, "leases.tend_s", "should be less than silent_s"),
        ("gateway.drain_grace_s", 60, "gateway.drain_grace_s", "should be less than drain_limit_s"),
        (
            "classes.standard.deadline_s",
            4000,
            "classes.standard.deadline_s",
            "is more than limits.deadline_s",
        ),
        ("models.flux.size", "1000x1024", "models.flux.size", "width and height should be multiples of 16"),
        ("models.flux.size", "1024x1000", "models.flux.size", "width and height should be multiples of 16"),
        (
            "models.flux.max_pixels",
            1_000_000,
            "models.flux.size",
            "is more than the model's max_pixels, 1000000",
        ),
        ("limits.pixels", 1_000_000, "models.flux.size", "is more than limits.pixels, 1000000"),
        ("models.flux.max_steps", 20, "models.flux.steps", "is more than the model's max_steps, 20"),
        ("limits.steps", 20, "models.flux.steps", "is more than limits.steps, 20"),
        (
            "models.flux.quality.low",
            101,
            "models.flux.quality.low",
            "should be from 1 to the model's max_steps, 100",
        ),
        ("models.flux.quality.low", 0, "models.flux.quality.low", "should be from 1 to"),
    ],
)
def test_numbers_that_cannot_all_hold(key: str, value: object, path: str, message: str) -> None:
    problem = only_problem(changed(key, value))
    assert problem.path == path
    assert problem.message.startswith(message)


def test_leases_scaled_down_together_are_fine() -> None:
    small = {
        "lease_s": 1.5,
        "renew_s": 0.5,
        "offer_s": 0.2,
        "send_window_s": 0.2,
        "tend_s": 0.05,
        "silent_s": 0.3,
    }
    assert loaded(changed("leases", small)).config.leases.lease_s == 1.5


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (without("keys"), "keys", "there is no key"),
        (changed("pools.annex.workers", []), "pools.annex.workers", "the pool has no workers"),
        (without("overflow"), "pools.fal", "the pool is never used"),
        (
            changed("pools.fal.models.flux.prices[0].valid_from", "2026-06-02"),
            "pools.fal.models.flux.prices",
            "no price holds before 2026-06-02",
        ),
    ],
)
def test_what_is_probably_not_meant(text: str, path: str, message: str) -> None:
    (warning,) = loaded(text).warnings
    assert warning.path == path
    assert warning.message.startswith(message)


def test_an_announced_price_beside_one_that_holds_is_fine() -> None:
    later = {"per_image_usd": 1, "valid_from": "2027-01-01"}
    assert loaded(changed("pools.fal.models.flux.prices[1]", later)).warnings == ()
    assert loaded(changed("pools.fal.models.flux.prices[0].valid_from", "2026-06-01")).warnings == ()


def test_a_model_whose_excess_can_only_wait() -> None:
    data = yaml.safe_load(FULL)
    data["models"]["other"] = data["models"]["flux"] | {"also": [], "aliases": [], "loras": {}}
    data["pools"]["house"]["models"]["other"] = "other"
    (warning,) = loaded(yaml.safe_dump(data)).warnings
    assert warning.path == "models.other"
