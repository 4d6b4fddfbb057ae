"""How long a generation takes: a fixed part, and a part that grows with steps, pixels and count.

The linear form is what diffusion servers show in practice; the figures are settings, not claims.
"""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Speed:
    """`(fixed_s + per_step_mp_s * steps * megapixels * count) * time_scale`, within the share `jitter`."""

    fixed_s: float = 0.3
    per_step_mp_s: float = 0.05
    time_scale: float = 1.0
    jitter: float = 0.0
    seed: int = 0

    def clock(self, name: str) -> "Clock":
        """The service times of one server; equal names and seeds give equal sequences."""
        return Clock(self, random.Random(f"{name}:{self.seed}"))


class Clock:
    def __init__(self, speed: Speed, rng: random.Random) -> None:
        self._speed = speed
        self._rng = rng

    def seconds(self, *, steps: int, width: int, height: int, count: int) -> float:
        speed = self._speed
        work = speed.per_step_mp_s * steps * (width * height / 1e6) * count
        around = 1 + speed.jitter * self._rng.uniform(-1, 1)
        return (speed.fixed_s + work) * speed.time_scale * around
