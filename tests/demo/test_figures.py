"""Numbers over time, made from the evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadtests.demo.figures import Band, Latency, bands_of, latencies_of, timeline_of
from tests.demo.evidence import CLAIM, bill, evidence, receipt, worker_rows


def test_images_stand_in_the_second_in_which_they_were_made() -> None:
    rows = worker_rows("a", 100.0, 101.5) + worker_rows("b", 100.5, 103.9)
    seen = evidence([receipt(0, "a"), receipt(3, "b")], rows, [bill("c", 102.2), bill("d", 102.9)])
    timeline = timeline_of(seen)
    assert timeline.start == 100.0
    assert timeline.arrivals == (1, 0, 0, 1)
    assert timeline.onprem == (0, 1, 0, 1)
    assert timeline.external == (0, 0, 2, 0)
    assert timeline.spend_usd == pytest.approx((0.0, 0.0, 0.06, 0.06))


def test_nothing_at_all_is_a_timeline_too() -> None:
    assert timeline_of(evidence([])).seconds == 1


def test_the_story_in_stretches() -> None:
    assert bands_of(CLAIM, 100.0, 130.0) == (
        Band("before", 100.0, 110.0),
        Band("draining", 110.0, 115.0),
        Band("held", 115.0, 120.0),
        Band("after", 120.0, 130.0),
    )


def test_a_claim_that_was_never_held_drains_until_its_release() -> None:
    bands = bands_of(replace(CLAIM, held_at=None), 100.0, 130.0)
    assert [(band.name, band.end) for band in bands] == [
        ("before", 110.0),
        ("draining", 120.0),
        ("after", 130.0),
    ]


def test_latencies_by_class_and_stretch() -> None:
    receipts = [replace(receipt(0, f"{n}"), sent_at=101.0, ended_at=101.0 + n) for n in range(1, 101)]
    receipts.append(replace(receipt(0, "b"), request_class="batch", sent_at=116.0, ended_at=126.0))
    receipts.append(replace(receipt(0, "lost"), fault="no answer"))
    found = latencies_of(evidence(receipts), bands_of(CLAIM, 100.0, 130.0))
    assert found == (
        Latency("before", "interactive", 100, 50.0, 90.0, 99.0, 100.0),
        Latency("held", "batch", 1, 10.0, 10.0, 10.0, 10.0),
    )
