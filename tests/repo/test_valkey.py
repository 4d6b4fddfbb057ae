"""The server that other tests stand on is real, empty at each start and set as production must be."""

from __future__ import annotations

import os
import signal

import pytest
import redis.asyncio
from redis import Redis
from redis.exceptions import RedisError

from tests.conftest import Valkey


async def test_it_is_a_real_server(redis_url: str) -> None:
    async with redis.asyncio.Redis.from_url(redis_url, decode_responses=True) as client:
        assert await client.eval("return redis.call('TIME')[1]", 0)
        assert await client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert await client.config_get("appendonly") == {"appendonly": "no"}


@pytest.mark.parametrize("_", [1, 2])
async def test_each_test_begins_with_nothing(redis_url: str, _: int) -> None:
    async with redis.asyncio.Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0
        await client.set("left", "behind")


@pytest.mark.chaos
def test_a_server_of_ones_own_can_be_frozen(own_valkey: Valkey) -> None:
    with Redis(port=own_valkey.port, socket_timeout=0.2, retry=None) as client:
        assert client.ping()
        os.kill(own_valkey.pid, signal.SIGSTOP)
        with pytest.raises(RedisError):
            client.ping()
