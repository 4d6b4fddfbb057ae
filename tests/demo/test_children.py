"""Child processes: what they say is kept, their death is noticed and told, and none is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import pytest

from loadtests.demo import children as module
from loadtests.demo.children import Child, ChildDied, Children
from loadtests.demo.folder import prepared
from loadtests.demo.stage import free_port

STUBBORN = """
import signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
print("{}", flush=True)
time.sleep(60)
"""


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules children can run."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def alive(child: Child) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.process.pid, 0)
        return True
    return False


async def test_a_child_that_ends_is_named_with_its_last_words(scripts: Path) -> None:
    (scripts / "fails.py").write_text('import sys\nprint("so far so good")\nsys.exit("out of paint")\n')
    children = Children(scripts)
    await children.start("paint shop", "fails")
    with pytest.raises(ExceptionGroup) as caught:
        await children.watch()
    (died,) = caught.value.exceptions
    assert str(died) == (
        "paint shop ended with exit code 1; the end of paint-shop.log:\n  | so far so good\n  | out of paint"
    )
    await children.end()


async def test_a_child_that_never_announces_itself(scripts: Path) -> None:
    (scripts / "mute.py").write_text('import sys\nprint("no", file=sys.stderr)\n')
    children = Children(scripts)
    with pytest.raises(ChildDied, match=r"mute ended with exit code 0.*\n.*no"):
        await children.start_announcing("mute", "mute")


async def test_a_signal_is_named(scripts: Path) -> None:
    (scripts / "waits.py").write_text("import time\ntime.sleep(60)\n")
    children = Children(scripts)
    child = await children.start("waiter", "waits")
    child.process.kill()
    await child.process.wait()
    assert await children.the_dead() == [child]
    assert "waiter ended with SIGKILL; the end of waiter.log:\n  | (its log is empty)" in child.last_words()


async def test_everybody_is_gone_at_the_end(scripts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLITE_S", 0.5)
    (scripts / "stubborn.py").write_text(STUBBORN)
    (scripts / "waits.py").write_text("import time\ntime.sleep(60)\n")
    children = Children(scripts)
    await children.start_announcing("stubborn", "stubborn")
    await children.start("waiter", "waits")
    started = list(children._all)
    assert all(alive(child) for child in started)
    async with asyncio.timeout(20):
        await children.end()
    assert not any(alive(child) for child in started)


def test_a_taken_port_is_replaced() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port


def test_only_what_an_earlier_run_left_is_removed(tmp_path: Path) -> None:
    with prepared(tmp_path):
        pass
    for name in (
        "images/0001-onprem.png",
        "logs/replica-1.log",
        "report.html",
        "notes.txt",
        "images/mine.png",
    ):
        (tmp_path / name).write_text("x")
    with prepared(tmp_path):
        pass
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["images/mine.png", "logs/.running", "notes.txt"]
