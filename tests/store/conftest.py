"""A plain client for looking at raw keys, and the check of all invariants after every test that has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import redis

from tests.store.raw import Dump, check, dump


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url, decode_responses=True) as opened:
        yield opened


@pytest.fixture
def look(client: redis.Redis) -> Callable[[], Dump]:
    """The raw keys of the pool now, their invariants checked."""

    def looked() -> Dump:
        seen = dump(client)
        check(seen)
        return seen

    return looked
