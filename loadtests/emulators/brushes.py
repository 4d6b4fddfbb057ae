"""What the scenes are painted with: each brush draws one thing, or returns a line to fill below."""

import itertools
import math
import random
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFilter

from loadtests.emulators.palettes import Colour, Palette, blend, dimmed, stretched

Size = tuple[int, int]
Line = list[tuple[float, float]]


def sky(size: Size, colours: Sequence[Colour]) -> Image.Image:
    column = Image.frombytes("RGB", (1, size[1]), stretched(colours, size[1]))
    return column.resize(size, Image.Resampling.NEAREST)


def disc(canvas: Image.Image, x: float, y: float, radius: float, colour: Colour) -> None:
    """A disc with a soft halo; the halo is blurred small and scaled up, which is cheap."""
    small = canvas.width // 5, canvas.height // 5
    halo = Image.new("L", small, 0)
    reach = radius * 1.5
    box = [(x - reach) / 5, (y - reach) / 5, (x + reach) / 5, (y + reach) / 5]
    ImageDraw.Draw(halo).ellipse(box, fill=130)
    halo = halo.filter(ImageFilter.GaussianBlur(radius / 9)).resize(canvas.size, Image.Resampling.BILINEAR)
    canvas.paste(colour, (0, 0), halo)
    pencil = ImageDraw.Draw(canvas)
    pencil.ellipse(
        [x - radius, y - radius, x + radius, y + radius], fill=blend(colour, (255, 255, 255), 0.35)
    )


def sun(canvas: Image.Image, rng: random.Random, colour: Colour) -> None:
    x, y = rng.uniform(0.18, 0.82) * canvas.width, rng.uniform(0.16, 0.40) * canvas.height
    disc(canvas, x, y, min(canvas.size) * rng.uniform(0.06, 0.13), colour)


def ridge(
    size: Size, rng: random.Random, level: float, swing: float, speed: float
) -> list[tuple[float, float]]:
    waves = [(swing / (k + 1), speed * (k * 1.7 + 1), rng.uniform(0, 6.28)) for k in range(4)]
    width, height = size
    step = 3 if width > 200 else 1
    return [
        (x, height * (level + sum(a * math.sin(f * x / width * 3.1 + p) for a, f, p in waves) / 1.6))
        for x in range(0, width + step, step)
    ]


def crags(size: Size, rng: random.Random, level: float, swing: float) -> list[tuple[float, float]]:
    """A jagged line by midpoint displacement."""
    heights = [rng.uniform(-0.4, 0.4), rng.uniform(-1, 0.2), rng.uniform(-0.4, 0.4)]
    rough = 0.55
    while len(heights) < 65:
        between = [(a + b) / 2 + rng.uniform(-rough, rough) for a, b in itertools.pairwise(heights)]
        pairs = zip(heights, [*between, 0.0], strict=False)
        heights = [value for pair in pairs for value in pair][:-1]
        rough *= 0.52
    last = len(heights) - 1
    return [(size[0] * k / last, size[1] * (level + swing * value)) for k, value in enumerate(heights)]


def fill_below(canvas: Image.Image, line: Sequence[tuple[float, float]], colour: Colour) -> None:
    width, height = canvas.size
    ImageDraw.Draw(canvas).polygon([*line, (width + 4, height), (-4, height)], fill=colour)


def stars(canvas: Image.Image, rng: random.Random, count: int) -> None:
    pencil = ImageDraw.Draw(canvas)
    for _ in range(count):
        x, y = rng.uniform(0, canvas.width), rng.uniform(0, canvas.height * 0.85)
        radius = rng.choice((0.8, 0.8, 1.2, 1.9))
        bright = rng.randint(150, 255)
        pencil.ellipse(
            [x - radius, y - radius, x + radius, y + radius], fill=(bright, bright, min(bright + 12, 255))
        )


def pines(canvas: Image.Image, rng: random.Random, level: float, colour: Colour) -> None:
    pencil = ImageDraw.Draw(canvas)
    for x, ground in ridge(canvas.size, rng, level, 0.03, 2.2)[::4]:
        tall, wide = canvas.height * rng.uniform(0.05, 0.13), canvas.width * rng.uniform(0.014, 0.026)
        pencil.polygon([(x - wide, canvas.height), (x - wide, ground), (x, ground - tall), (x + wide, ground),
                        (x + wide, canvas.height)], fill=colour)  # fmt: skip


def globe(
    canvas: Image.Image, centre: tuple[float, float], radius: float, rng: random.Random, palette: Palette
) -> None:
    """A banded planet lit from the upper left, sometimes with a ring."""
    side = max(round(radius * 2), 4)
    bands = [palette.at(rng.uniform(0.0, 0.75)) for _ in range(rng.randint(5, 8))]
    surface = sky((side, side), bands).rotate(
        rng.uniform(-25, 25), Image.Resampling.BILINEAR, fillcolor=bands[0]
    )
    mask = Image.new("L", (side, side), 0)
    ImageDraw.Draw(mask).ellipse([0, 0, side - 1, side - 1], fill=255)
    shade = Image.new("L", (side, side), 175)
    ImageDraw.Draw(shade).ellipse([-side * 0.28, -side * 0.28, side * 0.82, side * 0.82], fill=0)
    surface.paste(dimmed(palette.at(1.0), 0.6), (0, 0), shade.filter(ImageFilter.GaussianBlur(side / 9)))
    if rng.random() < 0.6:
        x, y = centre
        ring = [x - radius * 1.75, y - radius * 0.36, x + radius * 1.75, y + radius * 0.36]
        ImageDraw.Draw(canvas).ellipse(ring, outline=palette.accent, width=max(round(radius * 0.09), 2))
    canvas.paste(surface, (round(centre[0] - radius), round(centre[1] - radius)), mask)


def windows(
    pencil: ImageDraw.ImageDraw, rng: random.Random, box: tuple[float, float, float, float], colour: Colour
) -> None:
    left, top, right, bottom = box
    y = top + 12
    while y < bottom - 6:
        x = left + 7
        while x < right - 10:
            if rng.random() < 0.4:
                pencil.rectangle([x, y, x + 4, y + 6], fill=colour)
            x += 12
        y += 16
