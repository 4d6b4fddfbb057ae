"""The demo's own child processes: started, watched, ended by their process ids. None outlives the demo."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loadtests

ROOT = Path(loadtests.__file__).resolve().parents[1]
SPEAK_S = 20.0
POLITE_S = 8.0
NOTICED_S = 0.2
LAST_LINES = 15


class ChildDied(Exception):
    """A part ended that should not have. The message names it and holds its last words."""


@dataclass(frozen=True, slots=True)
class Child:
    name: str
    process: asyncio.subprocess.Process
    log: Path

    def last_words(self) -> str:
        """What happened, and the end of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        code = self.process.returncode
        how = "did not answer in time" if code is None else f"ended with {_named(code)}"
        said = "\n".join(f"  | {line}" for line in lines) or "  | (its log is empty)"
        return f"{self.name} {how}; the end of {self.log.name}:\n{said}"


class Children:
    """Children of one demo, in the order in which they were started."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._all: list[Child] = []

    async def start(self, name: str, *arguments: str, environ: Mapping[str, str] | None = None) -> Child:
        """Run `python -m ARGUMENTS`; what it says goes to its log."""
        return await self._start(name, arguments, environ or {}, announces=False)

    async def start_announcing(self, name: str, *arguments: str) -> dict[str, Any]:
        """The same for a child whose first line is JSON, which is returned."""
        child = await self._start(name, arguments, {}, announces=True)
        assert child.process.stdout is not None
        line = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SPEAK_S):
                line = await child.process.stdout.readline()
        if not line:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.process.wait(), 1.0)
            raise ChildDied(child.last_words())
        announced: dict[str, Any] = json.loads(line)
        return announced

    async def watch(self) -> None:
        """Return never; raises `ChildDied` when the first child ends by itself."""
        async with asyncio.TaskGroup() as group:
            for child in self._all:
                group.create_task(_watch(child))

    async def end(self) -> None:
        """End all of them, the last started first: politely, then, after a while, not."""
        alive = [child for child in reversed(self._all) if child.process.returncode is None]
        for child in alive:
            # The first asks a replica to drain, the second not to take its time over it. Two of one kind
            # may arrive as one.
            _signal(child, signal.SIGTERM)
            _signal(child, signal.SIGINT)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLITE_S):
                await asyncio.gather(*(child.process.wait() for child in alive))
        for child in alive:
            if child.process.returncode is None:
                _signal(child, signal.SIGKILL)
                await child.process.wait()

    async def the_dead(self) -> list[Child]:
        """Those that have ended without being told to."""
        await asyncio.sleep(NOTICED_S)  # an end is heard of a moment after its effects
        return [child for child in self._all if child.process.returncode is not None]

    async def forget(self, child: Child) -> None:
        """A child that ended before it was of use, and has a successor."""
        self._all.remove(child)
        await child.process.wait()

    async def _start(
        self, name: str, arguments: tuple[str, ...], environ: Mapping[str, str], *, announces: bool
    ) -> Child:
        log = self._logs / f"{name.replace(' ', '-')}.log"
        with log.open("wb") as said:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                *arguments,
                cwd=ROOT,
                env={**os.environ, **environ, "PYTHONUNBUFFERED": "1"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if announces else said,
                stderr=said,
                start_new_session=True,  # Ctrl-C is for the demo, which ends its children in order
            )
        child = Child(name, process, log)
        self._all.append(child)
        return child


async def _watch(child: Child) -> None:
    await child.process.wait()
    raise ChildDied(child.last_words())


def _signal(child: Child, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        child.process.send_signal(number)


def _named(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
