"""Store time on a replica whose own clocks are wrong."""

from __future__ import annotations

import random

import pytest

from router.store.clock import StoreClock
from tests.store.replica import replica


class Times:
    """A monotonic clock, a wall clock that is wrong by `error`, and the server's."""

    def __init__(self, error: float) -> None:
        self.mono = 1000.0
        self.error = error

    def clock(self) -> StoreClock:
        return StoreClock(lambda: self.mono, lambda: self.server + self.error)

    @property
    def server(self) -> float:
        return self.mono + 1_900_000_000.0


def test_before_the_first_reply_the_wall_clock_is_all_there_is() -> None:
    times = Times(error=7.0)
    assert times.clock().now() == times.server + 7.0


def test_the_fastest_reply_gives_the_offset() -> None:
    times = Times(error=7.0)
    clock = times.clock()
    chance = random.Random(3)
    for _ in range(200):
        there, back = chance.random() * 0.05, chance.random() * 0.05
        asked = times.mono
        times.mono += there
        said = times.server
        times.mono += back
        clock.heard(said, asked, times.mono)
    assert abs(clock.now() - times.server) < 0.01
    assert abs(clock.skew() - 7.0) < 0.01


def test_a_slow_reply_does_not_move_the_clock() -> None:
    times = Times(error=0.0)
    clock = times.clock()
    clock.heard(times.server, times.mono, times.mono + 0.001)
    before = clock.now()
    clock.heard(times.server + 4, times.mono, times.mono + 5)
    assert clock.now() == before


@pytest.mark.parametrize("step_s", [-3600.0, -0.1, 0.1, 3600.0])
def test_a_step_of_the_servers_clock_is_followed_at_once(step_s: float) -> None:
    """Even if one reply was fast long ago and none is as fast now."""
    times = Times(error=0.0)
    clock = times.clock()
    clock.heard(times.server, times.mono, times.mono + 0.00015)
    clock.heard(times.server + step_s, times.mono, times.mono + 0.003)
    assert abs(clock.now() - times.server - step_s) < 0.01


def test_time_left_is_never_negative() -> None:
    times = Times(error=0.0)
    clock = times.clock()
    assert clock.until(times.server + 5) == 5
    assert clock.until(times.server - 5) == 0


async def test_a_heartbeat_sets_the_clock(redis_url: str) -> None:
    async with replica(redis_url) as one:
        for _ in range(20):
            await one.tend()
        assert abs(one.clock.skew()) < 0.5
