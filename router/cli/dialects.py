"""What a configuration cannot know by itself: is there such a dialect, and does it take these settings?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.loading import Loaded
    from config.problems import Problem


def dialect_problems(loaded: Loaded) -> Iterator[Problem]:
    """What each pool's dialect says of its settings."""
    from config.problems import Problem
    from providers.registry import check_settings

    for name, pool in loaded.config.pools.items():
        origin = loaded.origins.get(("pools", name, "dialect"))
        for problem in check_settings(pool.dialect, pool.settings):
            yield Problem(f"pools.{name}.settings", origin.line if origin else 1, 1, problem)
