"""The report: one HTML file that needs nothing else, with the timeline, the tables and every picture."""

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

from loadtests.demo.account import Account, Evidence
from loadtests.demo.diagram import diagram
from loadtests.demo.figures import Latency, Sample, bands_of, latencies_of, timeline_of
from loadtests.demo.gallery import Exhibit
from loadtests.demo.script import Order

QUALITY = 72


def page(
    exhibits: Sequence[Exhibit],
    orders: Sequence[Order],
    seen: Evidence,
    samples: Sequence[Sample],
    account: Account,
) -> str:
    """The whole file."""
    timeline = timeline_of(seen)
    bands = bands_of(seen.claim, timeline.start, timeline.start + timeline.seconds)
    template = files("loadtests.demo").joinpath("report.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        verdict=_verdict(account),
        tiles="\n".join(_tiles(account)),
        timeline=diagram(timeline, bands, samples),
        reasons="\n".join(_reasons(account)),
        latencies="\n".join(_latencies(latencies_of(seen, bands))),
        pictures="\n".join(_pictures(exhibits, orders)),
    )


def _verdict(account: Account) -> str:
    failed = account.shortcomings()
    if not failed:
        return '<p class="verdict kept">Every promise was kept.</p>'
    items = "".join(f"<li>{escape(words)}</li>" for words in failed)
    return f'<div class="verdict broken">Broken promises:<ul>{items}</ul></div>'


def _tiles(account: Account) -> Iterable[str]:
    claim = account.claim
    drained = "never" if claim.drained_in_s is None else f"{claim.drained_in_s:.1f} s"
    for value, words, kind in (
        (str(account.requests), "images asked for", ""),
        (str(account.onprem), "made on-prem", "onprem"),
        (str(account.external), "made by the provider", "external"),
        (f"${account.external_usd:.2f}", "billed by the provider", "external"),
        (str(account.lost), "lost", ""),
        (str(account.duplicates), "delivered or billed twice", ""),
        (str(claim.cut_by_grace), "attempts cut by the grace", ""),
        (str(account.redone_onprem), "jobs done again on-prem", ""),
        (drained, "until the nodes were held", ""),
        (str(claim.starts_after_held), "started while held", ""),
    ):
        yield f'<div class="tile {kind}"><b>{escape(value)}</b><span>{escape(words)}</span></div>'


def _reasons(account: Account) -> Iterable[str]:
    for reason, count in account.spill_reasons.items():
        yield f"<tr><td><code>{escape(reason)}</code></td><td>{count}</td></tr>"
    if not account.spill_reasons:
        yield '<tr><td colspan="2">nothing was placed outside</td></tr>'


def _latencies(latencies: Sequence[Latency]) -> Iterable[str]:
    for row in latencies:
        cells = "".join(f"<td>{value:.2f}</td>" for value in (row.p50, row.p90, row.p99, row.most))
        yield f"<tr><td>{escape(row.classes)}</td><td>{escape(row.name)}</td><td>{row.count}</td>{cells}</tr>"


def _pictures(exhibits: Sequence[Exhibit], orders: Sequence[Order]) -> Iterable[str]:
    shown = {exhibit.order.number: exhibit for exhibit in exhibits}
    for order in orders:
        exhibit = shown.get(order.number)
        words = escape(order.prompt, quote=True)
        if exhibit is None:
            yield f'<figure class="missing" title="{words}"></figure>'
            continue
        receipt = exhibit.receipt
        facts = f"{order.request_class}, {order.steps} steps, {receipt.seconds:.1f} s, {receipt.route}"
        told = f"{words}&#10;{escape(facts)}"
        moved = " moved" if receipt.attempts > 1 else ""
        yield (
            f'<figure class="{escape(receipt.route)}{moved}" title="{told}">'
            f'<img loading="lazy" width="96" height="96" alt="{words}" src="{_inline(exhibit)}"></figure>'
        )


def _inline(exhibit: Exhibit) -> str:
    buffer = io.BytesIO()
    exhibit.thumbnail.save(buffer, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
