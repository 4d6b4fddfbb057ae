"""What is seen while the scene plays: a table that stays in place on a terminal, plain lines elsewhere."""

import asyncio
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from loadtests.demo.clock import wall
from loadtests.demo.figures import Sample
from loadtests.demo.watching import Watching, rate_of

REDRAW_S = 0.25
LINE_S = 2.0
NOTHING_SEEN = Sample(0.0, 0, 0, 0, 0, 0, 0, 0, "")
SLOTS = (
    ("working", "leased", "green", "■"),
    ("offered", "offered", "cyan", "■"),
    ("abandoned", "ghosts", "magenta", "▣"),
    ("free", "free", "white", "□"),
    ("claimed", "closed", "red", "▪"),
)


async def show(watching: Watching, console: Console) -> None:
    """Shows it until cancelled."""
    await (_redraw(watching, console) if console.is_terminal else _print_lines(watching, console))


async def _redraw(watching: Watching, console: Console) -> None:
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while True:
            live.update(table_of(watching), refresh=True)
            await asyncio.sleep(REDRAW_S)


async def _print_lines(watching: Watching, console: Console) -> None:
    while True:
        console.print(line_of(watching), soft_wrap=True, highlight=False)
        await asyncio.sleep(LINE_S)


def table_of(watching: Watching) -> RenderableType:
    """The table at this moment."""
    now, sample = wall(), _latest(watching)
    table = Table(title=f"spillover demo · {watching.act}", show_header=False)
    table.add_column(style="dim", no_wrap=True, width=9)
    table.add_column(no_wrap=True, width=56)
    for name, value in _rows(watching, sample, now):
        table.add_row(name, value)
    total = len(watching.script.orders)
    return Group(table, ProgressBar(total=max(1, total), completed=len(watching.receipts), width=72))


def line_of(watching: Watching) -> str:
    """The same in one line."""
    sample, now = _latest(watching), wall()
    return (
        f"{now - watching.began:5.1f} s  {len(watching.receipts):3}/{len(watching.script.orders)} answered"
        f"  queue {sample.waiting:2}  slots {_numbers(sample)}"
        f"  on-prem {rate_of(watching.onprem, now):.1f}/s  external {rate_of(watching.external, now):.1f}/s"
        f"  ${_spend(watching):.2f}  {watching.act}"
    )


def _rows(watching: Watching, sample: Sample, now: float) -> list[tuple[str, RenderableType]]:
    faults = sum(not receipt.valid for receipt in watching.receipts)
    answered = f"{len(watching.receipts)} of {len(watching.script.orders)}"
    return [
        ("time", f"{now - watching.began:.0f} s of about {watching.script.ends_at_s:.0f} s"),
        ("answered", f"{answered}{f', [red]{faults} without a picture[/]' if faults else ''}"),
        ("queue", _bar(sample.waiting, "blue", str)),
        ("slots", _slots(sample)),
        ("on-prem", _bar(rate_of(watching.onprem, now), "green", _per_second, len(watching.onprem))),
        ("external", _bar(rate_of(watching.external, now), "yellow", _per_second, len(watching.external))),
        ("spend", f"${_spend(watching):.2f}"),
        ("claim", sample.phase or "none"),
    ]


def _bar(value: float, style: str, words: Callable[[float], str], total: int | None = None) -> Text:
    bar = Text("▇" * min(40, round(value * (1 if total is None else 3))), style)
    said = words(value) if total is None else f"{words(value)}, {total} in all"
    return bar.append(f"{' ' if bar else ''}{said}", "default")


def _slots(sample: Sample) -> Text:
    text = Text()
    for _, name, style, mark in SLOTS:
        text.append(mark * int(getattr(sample, name)), style)
    return text.append("  " + _numbers(sample), "dim")


def _numbers(sample: Sample) -> str:
    counts = [(words, int(getattr(sample, name))) for words, name, _, _ in SLOTS]
    return ", ".join(f"{count} {words}" for words, count in counts if count) or "unseen"


def _spend(watching: Watching) -> float:
    return len(watching.external) * watching.stage.deployment.usd_each


def _per_second(value: float) -> str:
    return f"{value:.1f}/s"


def _latest(watching: Watching) -> Sample:
    return watching.samples[-1] if watching.samples else NOTHING_SEEN
