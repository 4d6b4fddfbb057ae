"""Who pays: work that ended is billed, fetched or not; a 5xx, a refusal and what never ran are not."""

from __future__ import annotations

from typing import Any

import pytest

from loadtests.emulators import App, Fal
from loadtests.emulators.fal_orders import read_order


async def test_unfetched_work_is_billed_once(fal: Fal, submit: Any) -> None:
    receipt = (await submit(fal, job="a")).json()
    await fal.ledger.until(lambda rows: rows.count("billed") == 1)
    kinds = [row["kind"] for row in fal.ledger.rows(job="a")]
    assert kinds == ["submitted", "started", "completed", "billed"]
    (bill,) = fal.ledger.rows("billed")
    assert bill["request_id"] == receipt["request_id"]
    assert (bill["app"], bill["units"], bill["unit"]) == ("fal-ai/flux/dev", 1.0, "megapixels")
    assert (bill["attempt"], bill["job"], bill["fence"]) == ("a.1;fence=3", "a", 3)


@pytest.mark.parametrize(
    ("fault", "units"),
    [
        ({"kind": "model_error500"}, 0),
        ({"kind": "runner_lost", "times": 10}, 0),
        ({"kind": "content_policy"}, 0),
        ({"kind": "content_policy", "billed": True}, 1),
        ({"kind": "nsfw"}, 1),
    ],
)
async def test_failures(fal: Fal, submit: Any, fault: dict[str, Any], units: float) -> None:
    await fal.set_faults(fault)
    await submit(fal)
    await fal.ledger.until(lambda rows: rows.count("billed" if units else "failed") == 1)
    assert fal.billed_units() == units


@pytest.mark.parametrize(
    ("size", "count", "units"),
    [
        ({"width": 512, "height": 512}, 1, 1),
        ({"width": 1000, "height": 1000}, 2, 2),
        ({"width": 1024, "height": 1024}, 2, 4),
        ({"width": 2048, "height": 1536}, 1, 4),
    ],
)
def test_megapixels_are_rounded_up_image_by_image(size: dict[str, int], count: int, units: float) -> None:
    app = App("a/b")
    order = read_order(app, {"prompt": "p", "image_size": size, "num_images": count}, 0)
    assert app.units(order) == units


async def test_bills_are_summed_by_job(fal: Fal, submit: Any) -> None:
    for job, count in [("a", 1), ("b", 2), ("a", 1)]:
        await submit(fal, job=job, num_images=count)
    await fal.ledger.until(lambda rows: rows.count("billed") == 3)
    assert (fal.billed_units("a"), fal.billed_units("b"), fal.billed_units()) == (2, 2, 4)
