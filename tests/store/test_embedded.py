"""The server that comes with the program: one for some workers on a machine, and gone with its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
import redis

from router.store.embedded import NoEmbeddedServer, embedded_server

WORKERS = ["http://127.0.0.1:1", "http://127.0.0.1:2"]
OWNER = """
import sys, time
from router.store.embedded import embedded_server
with embedded_server(["http://127.0.0.1:3"]) as url:
    print(url, flush=True)
    time.sleep(60)
"""


def answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, retry=None) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_it_answers_and_ends_with_its_scope() -> None:
    with embedded_server() as url:
        assert answers(url)
    assert not answers(url)


def test_a_second_one_for_the_same_workers_is_told_of_the_first() -> None:
    with embedded_server(WORKERS) as url:
        with pytest.raises(NoEmbeddedServer, match=url), embedded_server(list(reversed(WORKERS))):
            pass
        with embedded_server(["http://127.0.0.1:9"]) as other:
            assert answers(other)
    with embedded_server(WORKERS) as again:
        assert answers(again)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the server outlives a killed owner")
def test_a_killed_owner_takes_it_along() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    url = owner.stdout.readline().strip()
    assert answers(url)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    end = time.monotonic() + 5
    while answers(url) and time.monotonic() < end:
        time.sleep(0.02)
    assert not answers(url)
    with embedded_server(["http://127.0.0.1:3"]) as fresh:
        assert answers(fresh)
