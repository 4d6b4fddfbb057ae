"""Colour for the drawn scenes: a few hand-picked ramps, turned slightly by the random source.

A ramp runs from the far, light end of a scene (sky) to its near, dark end (foreground).
"""

import colorsys
import random
from collections.abc import Sequence
from dataclasses import dataclass

Colour = tuple[int, int, int]

RAMPS: tuple[tuple[str, ...], ...] = (
    ("#fde8c8", "#f9b98b", "#ee7f6d", "#a5506f", "#4a2f5a"),
    ("#fff1d0", "#ffc971", "#ff9057", "#d1495b", "#47284f"),
    ("#d9f0ea", "#9ad1c8", "#4fa3a5", "#2a6f7f", "#163f50"),
    ("#f4e4f7", "#cfa9e3", "#9a75c9", "#5f4a9c", "#2b2459"),
    ("#e3f0fb", "#a9cdef", "#6c9fd6", "#3d68a8", "#1c2f5e"),
    ("#fbeee6", "#f2c6bd", "#d98f97", "#9a5b79", "#4d3351"),
    ("#f7f3d7", "#d6dc9a", "#93b36a", "#4e7f56", "#1f4a44"),
    ("#ffe3dc", "#ff9f8e", "#e35d6a", "#8c2f5c", "#3a1a45"),
    ("#e6f7ff", "#9fe0e8", "#57b8c9", "#3a7ca5", "#23395b"),
    ("#fff4e0", "#f5d491", "#d9a35b", "#96643f", "#4b332d"),
    ("#efe9ff", "#b7b5f2", "#7d83d9", "#4b5299", "#22284f"),
    ("#fde2ee", "#f4a6c6", "#c86fa6", "#7f4a8b", "#3a2a5c"),
)


@dataclass(frozen=True)
class Palette:
    """Five colours from far and light to near and dark, and one accent."""

    ramp: tuple[Colour, ...]
    accent: Colour

    def at(self, position: float) -> Colour:
        """The colour at `position`, 0 being the light end and 1 the dark one."""
        place = min(max(position, 0.0), 1.0) * (len(self.ramp) - 1)
        low = min(int(place), len(self.ramp) - 2)
        return blend(self.ramp[low], self.ramp[low + 1], place - low)


def pick_palette(rng: random.Random) -> Palette:
    """One of the ramps with its hue turned by a few degrees, and a lighter accent from across the wheel."""
    turn = rng.uniform(-0.045, 0.045)
    ramp = tuple(_turned(_parsed(code), turn) for code in rng.choice(RAMPS))
    accent = blend(_turned(ramp[2], rng.choice((-0.08, 0.06, 0.5))), (255, 240, 208), 0.62)
    return Palette(ramp, accent)


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the second colour over the first."""
    mixed = [round(a + (b - a) * share) for a, b in zip(first, second, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def dimmed(colour: Colour, share: float) -> Colour:
    return blend(colour, (6, 8, 22), share)


def stretched(colours: Sequence[Colour], length: int) -> bytes:
    """RGB bytes of one column of `length` pixels that runs smoothly through the colours."""
    steps = max(length - 1, 1)
    ramp = Palette(tuple(colours), colours[0])
    return b"".join(bytes(ramp.at(row / steps)) for row in range(length))


def _parsed(code: str) -> Colour:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def _turned(colour: Colour, turn: float) -> Colour:
    hue, light, saturation = colorsys.rgb_to_hls(*(part / 255 for part in colour))
    red, green, blue = colorsys.hls_to_rgb((hue + turn) % 1.0, light, saturation)
    return round(red * 255), round(green * 255), round(blue * 255)
