"""Small painted scenes, so that a sheet of generated pictures is pleasant and tells jobs apart at a glance.

Every scene is a function of a canvas, a random source and a palette, and of nothing else. Scenes are painted
at a bounded size and scaled to the wanted one, so that a large request costs little more than a small one.
"""

import math
import random
from collections.abc import Callable

from PIL import Image, ImageDraw, ImageFilter

from loadtests.emulators.brushes import (
    Size,
    crags,
    disc,
    fill_below,
    globe,
    pines,
    ridge,
    sky,
    stars,
    sun,
    windows,
)
from loadtests.emulators.palettes import Palette, blend, dimmed, pick_palette

SMALLEST_CANVAS, LARGEST_CANVAS = 200, 640


def paint(rng: random.Random, width: int, height: int) -> Image.Image:
    """An RGB picture of the wanted size; equal random sources give equal pixels."""
    longest = max(width, height)
    scale = min(max(1.5 * longest, SMALLEST_CANVAS), LARGEST_CANVAS) / longest
    size = max(round(width * scale), 8), max(round(height * scale), 8)
    palette = pick_palette(rng)
    canvas = rng.choice(SCENES)(size, rng, palette)
    return canvas.resize((width, height), Image.Resampling.BICUBIC)


Scene = Callable[[Size, random.Random, Palette], Image.Image]


def hills(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    canvas = sky(size, [palette.at(0.34), palette.at(0.12), palette.at(0.0)])
    sun(canvas, rng, palette.accent)
    layers = rng.randint(4, 6)
    for layer in range(layers):
        near = (layer + 1) / layers
        line = ridge(size, rng, 0.42 + 0.48 * layer / layers, 0.10 - 0.05 * near, 1.2 + 1.4 * near)
        fill_below(canvas, line, palette.at(0.22 + 0.78 * near))
    return canvas


def peaks(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    canvas = sky(size, [palette.at(0.45), palette.at(0.18), palette.at(0.02)])
    sun(canvas, rng, blend(palette.accent, (255, 255, 255), 0.3))
    for layer in range(3):
        line = crags(size, rng, 0.46 + 0.16 * layer, 0.24 - 0.05 * layer)
        fill_below(canvas, [(x, y - size[1] * 0.012) for x, y in line], palette.at(0.14 + 0.2 * layer))
        fill_below(canvas, line, palette.at(0.4 + 0.24 * layer))
    fill_below(canvas, ridge(size, rng, 0.9, 0.03, 2.0), palette.at(1.0))
    return canvas


def aurora(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    width, height = size
    night = dimmed(palette.at(1.0), 0.55)
    canvas = sky(size, [dimmed(night, 0.4), night, blend(night, palette.at(0.6), 0.45)])
    stars(canvas, rng, 90)
    glow = Image.new("L", (width // 4, height // 4), 0)
    pencil = ImageDraw.Draw(glow)
    for _ in range(rng.randint(2, 3)):
        base = ridge(glow.size, rng, rng.uniform(0.3, 0.55), 0.10, 1.6)
        for x, y in base:
            tall = glow.size[1] * (0.20 + 0.10 * math.sin(x * 0.19) + 0.05 * math.sin(x * 0.53))
            pencil.line([(x, y - tall), (x, y)], fill=round(150 + 70 * math.sin(x * 0.31)), width=2)
    glow = glow.filter(ImageFilter.GaussianBlur(3.5)).resize(size, Image.Resampling.BICUBIC)
    light = sky(
        size, [(122, 92, 220), rng.choice(((70, 224, 180), (86, 214, 236), (126, 236, 140))), (214, 255, 224)]
    )
    canvas.paste(light, (0, 0), glow)
    pines(canvas, rng, 0.86, dimmed(night, 0.6))
    return canvas


def sea(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    width, height = size
    horizon = rng.uniform(0.5, 0.62)
    canvas = sky(size, [palette.at(0.5), palette.at(0.25), palette.at(0.02)])
    middle = rng.uniform(0.3, 0.7) * width
    disc(canvas, middle, height * (horizon - rng.uniform(0.02, 0.16)), height * 0.11, palette.accent)
    water = sky(
        (width, height - round(height * horizon)), [palette.at(0.42), palette.at(0.72), palette.at(1.0)]
    )
    canvas.paste(water, (0, round(height * horizon)))
    pencil = ImageDraw.Draw(canvas)
    for row in range(26):
        depth = row / 26
        y = height * (horizon + (1 - horizon) * depth**1.35) + 2
        reach = height * (0.10 + 0.16 * depth) * rng.uniform(0.5, 1.0)
        drift = rng.uniform(-0.05, 0.05) * width
        tone = blend(palette.accent, palette.at(0.7), 0.15 + 0.7 * depth)
        pencil.rounded_rectangle(
            [middle + drift - reach, y, middle + drift + reach, y + 2 + 4 * depth], radius=3, fill=tone
        )
    return canvas


def planets(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    width, height = size
    deep = dimmed(palette.at(1.0), 0.5)
    canvas = sky(size, [deep, dimmed(palette.at(0.85), 0.35), dimmed(palette.at(0.6), 0.3)])
    stars(canvas, rng, 130)
    for share in (0.30, 0.09, 0.05)[: rng.randint(2, 3)]:
        radius = share * min(width, height) * rng.uniform(0.8, 1.25)
        centre = rng.uniform(0.25, 0.75) * width, rng.uniform(0.25, 0.7) * height
        globe(canvas, centre, radius, rng, palette)
    fill_below(canvas, ridge(size, rng, 0.88, 0.05, 1.8), dimmed(deep, 0.35))
    return canvas


def ribbons(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    canvas = sky(size, [palette.at(0.0), palette.at(0.1)])
    sun(canvas, rng, palette.accent)
    bands = rng.randint(7, 11)
    phase, swing = rng.uniform(0, 6.28), rng.uniform(0.04, 0.09)
    for band in range(bands):
        near = (band + 1) / bands
        line = [
            (
                x,
                size[1]
                * (0.22 + 0.78 * band / bands + swing * math.sin(phase + band * 0.55 + x / size[0] * 5.2)),
            )
            for x in range(0, size[0] + 4, 4)
        ]
        fill_below(canvas, line, palette.at(near))
    return canvas


def circles(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    canvas = sky(size, [palette.at(0.0), palette.at(0.14)])
    short = min(size)
    for count in range(rng.randint(7, 10)):
        radius = short * rng.uniform(0.07, 0.30)
        centre = rng.uniform(0.08, 0.92) * size[0], rng.uniform(0.08, 0.92) * size[1]
        tone = palette.accent if count % 4 == 1 else palette.at(rng.uniform(0.25, 1.0))
        mask = Image.new("L", size, 0)
        box = [centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius]
        ImageDraw.Draw(mask).ellipse(box, fill=rng.randint(120, 210))
        canvas.paste(tone, (0, 0), mask)
    return canvas


def skyline(size: Size, rng: random.Random, palette: Palette) -> Image.Image:
    width, height = size
    canvas = sky(size, [palette.at(0.6), palette.at(0.3), palette.at(0.05)])
    sun(canvas, rng, palette.accent)
    pencil = ImageDraw.Draw(canvas)
    for layer in range(3):
        tone, x = palette.at(0.45 + 0.27 * layer), -rng.uniform(0, 30)
        while x < width:
            wide = rng.uniform(0.05, 0.12) * width
            top = height * (rng.uniform(0.38, 0.66) + 0.12 * layer)
            pencil.rectangle([x, top, x + wide, height], fill=tone)
            if layer == 2:
                windows(pencil, rng, (x, top, x + wide, float(height)), palette.accent)
            x += wide * rng.uniform(0.85, 1.25)
    return canvas


SCENES: tuple[Scene, ...] = (hills, peaks, aurora, sea, planets, ribbons, circles, skyline)
