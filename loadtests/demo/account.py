"""What became of everything: counted from the emulators' ledgers and the client's receipts alone.

The router's own counters play no part here, so that the account can convict it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from loadtests.demo.receipt import Receipt
from loadtests.emulators.ledger import Row

PROOF_S = 5.0
"""How long after the grace the proof that cut work has ended may take."""
FEWEST_CUT = 3


@dataclass(frozen=True, slots=True)
class ClaimTimes:
    """A claim's moments in store time (wall seconds of this machine), and its nodes."""

    nodes: tuple[str, ...]
    requested_at: float
    drain_at: float
    cut_at: float
    grace_s: float
    held_at: float | None
    released_at: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was seen. `node_of` maps the ledger's workers to nodes; `usd_each` is the provider's price."""

    receipts: Sequence[Receipt]
    worker_rows: Sequence[Row]
    provider_rows: Sequence[Row]
    claim: ClaimTimes
    node_of: Mapping[str, str]
    usd_each: float
    replicas: int


@dataclass(frozen=True, slots=True)
class ClaimAccount:
    requested_at: float
    held_at: float | None
    released_at: float | None
    grace_s: float
    drained_in_s: float | None
    cut_by_grace: int
    starts_after_held: int


@dataclass(frozen=True, slots=True)
class Account:
    """The result of a scene, as `--json` writes it; its fields are explained in `account_of`."""

    requests: int
    succeeded: int
    failed: int
    lost: int
    duplicates: int
    redone_onprem: int
    onprem: int
    external: int
    external_usd: float
    claim: ClaimAccount
    spill_reasons: dict[str, int]
    replicas: int

    def document(self) -> dict[str, object]:
        return asdict(self)

    def shortcomings(self) -> list[str]:
        """What the scene promised and did not keep; empty if all is well."""
        claim = self.claim
        drained = claim.drained_in_s
        promises = {
            f"{self.lost} images were lost": self.lost == 0,
            f"{self.duplicates} images were delivered or billed twice": self.duplicates == 0,
            "the claim was never held": claim.held_at is not None,
            f"draining took {drained} s, more than the grace of {claim.grace_s:g} s and {PROOF_S:g} s": (
                drained is None or drained <= claim.grace_s + PROOF_S
            ),
            f"only {claim.cut_by_grace} attempts were cut by the grace, fewer than {FEWEST_CUT}": (
                claim.cut_by_grace >= FEWEST_CUT
            ),
            f"{claim.starts_after_held} generations started on held nodes": claim.starts_after_held == 0,
            "nothing was made by the external provider": self.external > 0,
            f"more was made outside ({self.external}) than on-prem ({self.onprem})": (
                self.onprem > self.external
            ),
        }
        return [words for words, kept in promises.items() if not kept]


def account_of(seen: Evidence) -> Account:
    """Counts everything.

    succeeded: answered with 200. failed: all other answers, and none. lost: the client has no valid picture
    of its own, whatever the answer said. duplicates: see `duplicates`. onprem, external: images whose reply a
    worker delivered, and images the provider billed. redone_onprem: jobs that workers started more than once.
    """
    billed = [row for row in seen.provider_rows if row["kind"] == "billed"]
    external = round(sum(row["units"] for row in billed))
    succeeded = sum(receipt.status == 200 for receipt in seen.receipts)
    spilled = [receipt for receipt in seen.receipts if receipt.valid and receipt.route == "external"]
    return Account(
        requests=len(seen.receipts),
        succeeded=succeeded,
        failed=len(seen.receipts) - succeeded,
        lost=sum(not receipt.valid for receipt in seen.receipts),
        duplicates=duplicates(seen.receipts, billed),
        redone_onprem=_redone(seen.worker_rows),
        onprem=len(_delivered(seen.worker_rows)),
        external=external,
        external_usd=round(external * seen.usd_each, 6),
        claim=_claim_account(seen),
        spill_reasons=dict(Counter(receipt.reason for receipt in spilled).most_common()),
        replicas=seen.replicas,
    )


def duplicates(receipts: Iterable[Receipt], billed: Iterable[Row]) -> int:
    """Images beyond the one of each job: answered to the client, or billed by the provider, again.

    Work that was cut before its reply was read is done again. That is no duplicate: nobody got it or paid
    for it.
    """
    answers = Counter(receipt.job for receipt in receipts if receipt.job and receipt.status == 200)
    bills = Counter(row["job"] for row in billed)
    return sum(times - 1 for counts in (answers, bills) for times in counts.values())


def cut_by_grace(worker_rows: Sequence[Row], claim: ClaimTimes, node_of: Mapping[str, str]) -> set[str]:
    """Generations on the claimed nodes that ran at the end of the grace, and whose reply nobody took."""
    on_claimed = [row for row in worker_rows if node_of.get(row["worker"]) in claim.nodes]
    began = {row["generation"]: row["wall"] for row in on_claimed if row["kind"] == "started"}
    ended = {row["generation"]: row["wall"] for row in on_claimed if row["kind"] == "finished"}
    unread = {row["generation"] for row in on_claimed if row["kind"] == "undelivered"}
    return {
        generation
        for generation, moment in began.items()
        if moment <= claim.cut_at < ended.get(generation, 0.0) and generation in unread
    }


def _claim_account(seen: Evidence) -> ClaimAccount:
    claim = seen.claim
    return ClaimAccount(
        requested_at=claim.requested_at,
        held_at=claim.held_at,
        released_at=claim.released_at,
        grace_s=claim.grace_s,
        drained_in_s=None if claim.held_at is None else round(claim.held_at - claim.drain_at, 3),
        cut_by_grace=len(cut_by_grace(seen.worker_rows, claim, seen.node_of)),
        starts_after_held=_starts_while_held(seen.worker_rows, claim, seen.node_of),
    )


def _starts_while_held(worker_rows: Iterable[Row], claim: ClaimTimes, node_of: Mapping[str, str]) -> int:
    if claim.held_at is None:
        return 0
    until = float("inf") if claim.released_at is None else claim.released_at
    return sum(
        claim.held_at <= row["wall"] < until
        for row in worker_rows
        if row["kind"] == "started" and node_of.get(row["worker"]) in claim.nodes
    )


def _delivered(worker_rows: Iterable[Row]) -> list[Row]:
    return [row for row in worker_rows if row["kind"] == "delivered" and row["status"] == 200]


def _redone(worker_rows: Iterable[Row]) -> int:
    starts = Counter(row["job"] for row in worker_rows if row["kind"] == "started" and row["job"])
    return sum(times > 1 for times in starts.values())
