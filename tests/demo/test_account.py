"""The account convicts: every promise of the scene can be broken, and is seen to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadtests.demo.account import Account, account_of, cut_by_grace
from tests.demo.evidence import CLAIM, NODE_OF, bill, evidence, receipt, worker_rows


def good() -> Account:
    rows = [row for number in range(5) for row in worker_rows(f"j{number}", 100 + number, 101 + number)]
    for number in range(3):  # cut at 112, run on until 114, done again elsewhere
        rows += worker_rows(f"c{number}", 111, 114, read=False)
        rows += worker_rows(f"c{number}", 115, 118, "worker-7")
    receipts = [receipt(number, f"j{number}") for number in range(5)]
    receipts += [receipt(5 + number, f"c{number}", attempts=2) for number in range(3)]
    receipts.append(receipt(8, "e0", "external", reason="onprem_claimed"))
    return account_of(evidence(receipts, rows, [bill("e0")]))


def test_a_scene_that_went_well() -> None:
    account = good()
    assert account.document() == {
        "requests": 9,
        "succeeded": 9,
        "failed": 0,
        "lost": 0,
        "duplicates": 0,
        "redone_onprem": 3,
        "onprem": 8,
        "external": 1,
        "external_usd": 0.03,
        "claim": {
            "requested_at": 110.0,
            "held_at": 115.0,
            "released_at": 120.0,
            "grace_s": 2.0,
            "drained_in_s": 5.0,
            "cut_by_grace": 3,
            "starts_after_held": 0,
        },
        "spill_reasons": {"onprem_claimed": 1},
        "replicas": 2,
    }
    assert account.shortcomings() == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lost": 2}, "2 images were lost"),
        ({"duplicates": 1}, "delivered or billed twice"),
        ({"external": 0}, "nothing was made by the external provider"),
        ({"external": 8}, "more was made outside"),
        ({"claim": {"held_at": None, "drained_in_s": None}}, "never held"),
        ({"claim": {"drained_in_s": 7.1}}, "draining took 7.1 s"),
        ({"claim": {"cut_by_grace": 2}}, "only 2 attempts were cut"),
        ({"claim": {"starts_after_held": 1}}, "1 generations started on held nodes"),
    ],
)
def test_each_promise_can_be_broken(change: dict[str, object], words: str) -> None:
    account = good()
    if isinstance(claim := change.get("claim"), dict):
        change = {"claim": replace(account.claim, **claim)}
    (shortcoming,) = replace(account, **change).shortcomings()  # type: ignore[arg-type]
    assert words in shortcoming


def test_a_refusal_and_somebody_elses_picture_are_both_lost() -> None:
    account = account_of(
        evidence(
            [
                receipt(0, "a"),
                receipt(1, "b", fault="HTTP 503: no_capacity", status=503),
                receipt(2, "c", fault="somebody else's picture: spillover-seed"),
                receipt(3, "", fault="no answer: TimeoutError", status=0),
            ]
        )
    )
    assert (account.succeeded, account.failed, account.lost) == (2, 2, 3)


def test_a_job_billed_twice_is_a_duplicate() -> None:
    account = account_of(evidence([receipt(0, "a", "external")], provider=[bill("a"), bill("a")]))
    assert account.duplicates == 1
    assert account.external_usd == 0.06


def test_a_job_answered_twice_is_a_duplicate() -> None:
    assert account_of(evidence([receipt(0, "a"), receipt(1, "a")])).duplicates == 1


def test_refused_orders_without_a_job_are_no_duplicates_of_each_other() -> None:
    refused = [receipt(number, "", fault="no answer", status=0) for number in range(3)]
    assert account_of(evidence(refused)).duplicates == 0


def test_work_done_again_is_not_a_duplicate() -> None:
    rows = worker_rows("a", 111, 114, read=False) + worker_rows("a", 115, 116, "worker-7")
    account = account_of(evidence([receipt(0, "a")], rows))
    assert (account.duplicates, account.redone_onprem, account.onprem) == (0, 1, 1)


def test_only_unread_work_that_ran_at_the_cut_on_a_claimed_node_was_cut() -> None:
    rows = (
        worker_rows("cut", 111, 114, read=False)
        + worker_rows("in time", 110, 111.9)
        + worker_rows("read late", 111, 112.1)
        + worker_rows("client left before", 109, 111, read=False)
        + worker_rows("elsewhere", 111, 114, "worker-7", read=False)
    )
    assert cut_by_grace(rows, CLAIM, NODE_OF) == {"cut@111"}


def test_starts_count_while_the_claim_is_held_and_not_outside() -> None:
    rows = [
        row
        for began, worker in (
            (114.9, "worker-0"),
            (115.0, "worker-0"),
            (119.9, "worker-0"),
            (120.0, "worker-0"),
            (117.0, "worker-7"),
        )
        for row in worker_rows("a", began, began + 1, worker)
    ]
    assert account_of(evidence([], rows)).claim.starts_after_held == 2
    never = replace(CLAIM, held_at=None)
    assert account_of(evidence([], rows, claim=never)).claim.starts_after_held == 0
