"""The timeline for a terminal: where images were made, second by second, with the claim marked below."""

import math
from collections.abc import Sequence

from rich.text import Text

from loadtests.demo.figures import AFTER, BEFORE, DRAINING, HELD, Band, Timeline

ONPREM, EXTERNAL, NOTHING = "█", "▒", " "
STYLES = {ONPREM: "green", EXTERNAL: "yellow", NOTHING: ""}
MARKS = {BEFORE: " ", DRAINING: "d", HELD: "H", AFTER: " "}
MARK_STYLES = {DRAINING: "magenta", HELD: "bold red"}
HEIGHT = 8
MARGIN = 6


def chart_of(timeline: Timeline, bands: Sequence[Band], width: int = 80) -> Text:
    """Stacked columns, on-prem below external. One column is as many seconds as make it fit `width`."""
    each = max(1, math.ceil(timeline.seconds / max(10, width - MARGIN - 1)))
    onprem, external = _binned(timeline.onprem, each), _binned(timeline.external, each)
    per_row = max(1.0, max(a + b for a, b in zip(onprem, external, strict=True)) / HEIGHT)
    columns = [_column(a, b, per_row) for a, b in zip(onprem, external, strict=True)]
    chart = Text(no_wrap=True)
    for row in reversed(range(HEIGHT)):
        chart.append(_scale(row, per_row))
        for column in columns:
            chart.append(column[row], STYLES[column[row]])
        chart.append("\n")
    chart.append(" " * (MARGIN - 1) + "└" + "─" * len(columns) + "\n")
    _append_marks(chart, timeline, bands, len(columns), each)
    _append_axis(chart, len(columns), each)
    _append_legend(chart, each)
    return chart


def _binned(counts: Sequence[int], each: int) -> list[int]:
    return [sum(counts[start : start + each]) for start in range(0, len(counts), each)]


def _column(onprem: int, external: int, per_row: float) -> str:
    """From the bottom up. Whatever there is of external work shows at least once."""
    top = min(HEIGHT, round((onprem + external) / per_row))
    outside = min(HEIGHT, max(round(external / per_row), int(external > 0)))
    top = max(top, outside)
    return (ONPREM * (top - outside) + EXTERNAL * outside).ljust(HEIGHT, NOTHING)


def _scale(row: int, per_row: float) -> str:
    shown = f"{(row + 1) * per_row:.0f}" if (row + 1) % 2 == 0 else ""
    return f"{shown:>{MARGIN - 1}}│"


def _append_marks(chart: Text, timeline: Timeline, bands: Sequence[Band], columns: int, each: int) -> None:
    chart.append(f"{'claim':>{MARGIN - 1}} ")
    for column in range(columns):
        middle = timeline.start + (column + 0.5) * each
        name = next((band.name for band in bands if band.start <= middle < band.end), AFTER)
        chart.append(MARKS[name], MARK_STYLES.get(name, ""))
    chart.append("\n")


def _append_axis(chart: Text, columns: int, each: int) -> None:
    axis = [" "] * (columns + 6)
    for column in range(0, columns, 10):
        label = f"{column * each}s"
        axis[column : column + len(label)] = label
    chart.append(" " * MARGIN + "".join(axis).rstrip() + "\n", "dim")


def _append_legend(chart: Text, each: int) -> None:
    chart.append(" " * MARGIN)
    for mark, words in ((ONPREM, "on-prem"), (EXTERNAL, "external")):
        chart.append(mark * 2, STYLES[mark])
        chart.append(f" {words}   ")
    chart.append("d", MARK_STYLES[DRAINING])
    chart.append(" draining   ")
    chart.append("H", MARK_STYLES[HELD])
    chart.append(f" held by training   images per {'second' if each == 1 else f'{each} s'}")
