"""After the last answer: files for later, and a few lines and a chart for now."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from loadtests.demo.account import Account, Evidence
from loadtests.demo.chart import chart_of
from loadtests.demo.figures import bands_of, timeline_of
from loadtests.demo.report import page
from loadtests.demo.sheet import contact_sheet
from loadtests.demo.watching import Watching

SHEET, REPORT = "contact-sheet.png", "report.html"
WIDEST = 120


def write_down(out: Path, watching: Watching, seen: Evidence, account: Account) -> None:
    """The contact sheet and the report."""
    exhibits = watching.gallery.finish()
    orders = watching.script.orders
    contact_sheet(exhibits, orders, account).save(out / SHEET, compress_level=3)
    html = page(exhibits, orders, seen, watching.samples, account)
    (out / REPORT).write_text(html, encoding="utf-8")


def tell(console: Console, out: Path, watching: Watching, seen: Evidence, account: Account) -> None:
    """The chart, the account, and where the files are."""
    timeline = timeline_of(seen)
    bands = bands_of(seen.claim, timeline.start, timeline.start + timeline.seconds)
    console.print()
    console.print(chart_of(timeline, bands, min(console.width, WIDEST)), soft_wrap=True)
    console.print()
    for line in lines_of(account):
        console.print(line, markup=False, soft_wrap=True)
    for receipt in [receipt for receipt in watching.receipts if not receipt.valid][:10]:
        console.print(
            f"  order {receipt.number}: {receipt.fault} {receipt.job}", markup=False, soft_wrap=True
        )
    console.print(_verdict(account))
    console.print(f"{out / REPORT}\n{out / SHEET}", markup=False, soft_wrap=True)


def lines_of(account: Account) -> list[str]:
    """The account in words."""
    claim = account.claim
    drained = "never" if claim.drained_in_s is None else f"{claim.drained_in_s:.1f} s"
    reasons = ", ".join(f"{count} {reason}" for reason, count in account.spill_reasons.items()) or "none"
    asked = (
        f"{account.requests} images of {account.replicas} replicas: {account.succeeded} answered,"
        f" {account.failed} failed, {account.lost} lost, {account.duplicates} delivered or billed twice"
    )
    made = (
        f"{account.onprem} on-prem, {account.external} external for ${account.external_usd:.2f}"
        f" (why: {reasons})"
    )
    claimed = (
        f"grace {claim.grace_s:g} s, {claim.cut_by_grace} attempts cut by it, {account.redone_onprem} jobs"
        f" done again on-prem, held after {drained}, {claim.starts_after_held} started while held"
    )
    return [f"asked  {asked}", f"made   {made}", f"claim  {claimed}"]


def _verdict(account: Account) -> Text:
    failed = account.shortcomings()
    if not failed:
        return Text("every promise was kept", "bold green")
    return Text("\n".join(f"broken: {words}" for words in failed), "bold red")
