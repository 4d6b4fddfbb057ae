"""The timeline of the report as SVG: panels over one time axis, with the claim's stretches behind them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from loadtests.demo.figures import DRAINING, HELD, Band, Sample, Timeline

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1000, 46, 12, 46, 26
GAP = 34
STEPS = (1, 1.2, 1.6, 2, 3, 4, 6, 8, 10)
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Panel:
    """A strip with its own scale from 0 to `most`; `y` is its upper edge."""

    title: str
    y: float
    height: float
    most: float

    def place(self, value: float) -> float:
        return self.y + self.height * (1 - value / self.most)

    @property
    def floor(self) -> float:
        return self.y + self.height


def diagram(timeline: Timeline, bands: Sequence[Band], samples: Sequence[Sample]) -> str:
    """One `<svg>` element; colours come from the page's CSS classes."""
    made_most = max(max(a + b for a, b in zip(timeline.onprem, timeline.external, strict=True)), 1)
    panels = _stacked(
        ("Images a second: where they were made, and arrivals", 190, max(made_most, *timeline.arrivals)),
        ("Waiting in the queue", 80, max((sample.waiting for sample in samples), default=0)),
        ("Slots: working, abandoned but not proved over, claimed, free", 80, _slots(samples)),
        ("Spent at the provider, dollars", 80, timeline.spend_usd[-1]),
    )
    made, queue, slots, spend = panels
    axis = _Axis(timeline.start, timeline.seconds)
    height = panels[-1].floor + BOTTOM
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="Timeline of the scene">',
        *_bands(axis, bands, panels[-1].floor),
        *_made(axis, made, timeline),
        *_arrivals(axis, made, timeline),
        *_area(axis, queue, "queue", [(sample.at, sample.waiting) for sample in samples]),
        *_slot_areas(axis, slots, samples),
        *_area(axis, spend, "spend", _by_second(timeline)),
        *(part for panel in panels for part in _frame(panel)),
        *_ticks(axis, panels[-1].floor),
        "</svg>",
    ]
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class _Axis:
    start: float
    seconds: int

    def x(self, moment: float) -> float:
        """Moments before the start or after the end stand at the edge."""
        share = min(max((moment - self.start) / self.seconds, 0.0), 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)


def _stacked(*wanted: tuple[str, float, float]) -> tuple[Panel, ...]:
    panels, y = [], float(TOP)
    for title, height, most in wanted:
        panels.append(Panel(title, y, height, _rounded_up(most)))
        y += height + GAP
    return tuple(panels)


def _rounded_up(most: float) -> float:
    """The next of some steps, half of which is a round number too, times a power of ten."""
    power = 10.0 ** math.floor(math.log10(max(most, 0.01)))
    return next(step * power for step in STEPS if step * power >= max(most, 0.01) - 1e-9)


def _slots(samples: Sequence[Sample]) -> float:
    return max(
        (one.leased + one.offered + one.ghosts + one.closed + one.free for one in samples), default=1.0
    )


def _made(axis: _Axis, panel: Panel, timeline: Timeline) -> Iterable[str]:
    wide = axis.x(axis.start + 1) - axis.x(axis.start)
    for second, (onprem, external) in enumerate(zip(timeline.onprem, timeline.external, strict=True)):
        x, below = axis.x(axis.start + second), 0
        for name, count in (("onprem", onprem), ("external", external)):
            if count:
                top, floor = panel.place(below + count), panel.place(below)
                title = f"<title>second {second}: {count} {name}</title>"
                yield (
                    f'<rect class="{name}" x="{x + 0.6:.1f}" y="{top:.1f}" width="{wide - 1.2:.1f}"'
                    f' height="{floor - top:.1f}">{title}</rect>'
                )
            below += count


def _arrivals(axis: _Axis, panel: Panel, timeline: Timeline) -> Iterable[str]:
    points = [(axis.start + second + 0.5, float(count)) for second, count in enumerate(timeline.arrivals)]
    yield f'<path class="arrivals" d="{_path(axis, panel, points)}"/>'


def _area(axis: _Axis, panel: Panel, name: str, values: Sequence[Point]) -> Iterable[str]:
    if values:
        line = _path(axis, panel, values)
        first = axis.x(values[0][0])
        closed = f"{line}V{panel.floor:.1f}H{first:.1f}Z"
        yield f'<path class="{name} area" d="{closed}"/>'
        yield f'<path class="{name} line" d="{line}"/>'


def _slot_areas(axis: _Axis, panel: Panel, samples: Sequence[Sample]) -> Iterable[str]:
    """Steps stacked from the floor up; free slots are what is left to the top."""
    below = [0.0] * len(samples)
    for name in ("leased", "ghosts", "closed"):
        added = (one.leased + one.offered if name == "leased" else int(getattr(one, name)) for one in samples)
        above = [low + high for low, high in zip(below, added, strict=True)]
        upper = _steps(axis, panel, samples, above)
        lower = _steps(axis, panel, samples, below)[::-1]
        if upper:
            points = "L".join(f"{x:.1f} {y:.1f}" for x, y in (*upper, *lower))
            yield f'<path class="slot-{name}" d="M{points}Z"/>'
        below = above


def _steps(axis: _Axis, panel: Panel, samples: Sequence[Sample], values: Sequence[float]) -> list[Point]:
    points: list[Point] = []
    for place, (sample, value) in enumerate(zip(samples, values, strict=True)):
        until = samples[place + 1].at if place + 1 < len(samples) else sample.at
        y = panel.place(value)
        points += [(axis.x(sample.at), y), (axis.x(until), y)]
    return points


def _by_second(timeline: Timeline) -> list[Point]:
    return [(timeline.start + second + 1, spent) for second, spent in enumerate(timeline.spend_usd)]


def _path(axis: _Axis, panel: Panel, points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{axis.x(at):.1f} {panel.place(value):.1f}" for at, value in points)


def _bands(axis: _Axis, bands: Sequence[Band], floor: float) -> Iterable[str]:
    for band in bands:
        if band.name in (DRAINING, HELD):
            x, wide = axis.x(band.start), axis.x(band.end) - axis.x(band.start)
            box = f'x="{x:.1f}" y="14" width="{wide:.1f}" height="{floor - 14:.1f}"'
            yield f'<rect class="band-{band.name}" {box}/>'
            yield f'<text class="band-name" x="{x + 4:.1f}" y="11">{escape(band.name)}</text>'


def _frame(panel: Panel) -> Iterable[str]:
    yield f'<text class="panel-name" x="{LEFT}" y="{panel.y - 8:.1f}">{escape(panel.title)}</text>'
    for share in (0.0, 0.5, 1.0):
        y, value = panel.place(share * panel.most), share * panel.most
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text class="tick" text-anchor="end" x="{LEFT - 6}" y="{y + 4:.1f}">{value:.3g}</text>'


def _ticks(axis: _Axis, floor: float) -> Iterable[str]:
    for second in range(0, axis.seconds + 1, 5 if axis.seconds <= 90 else 30):
        x = axis.x(axis.start + second)
        yield f'<text class="tick" text-anchor="middle" x="{x:.1f}" y="{floor + 18:.1f}">{second} s</text>'
