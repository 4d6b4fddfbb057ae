"""Processes of a test: started with their output in files, waited for, and ended by their own pid."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
START_S = 30.0
END_S = 20.0


class Process:
    """One running program. Its output stands in `out` and `err`."""

    def __init__(
        self, name: str, command: list[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("ab") as out, self.err.open("ab") as err:
            self._popen = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    @classmethod
    def python(
        cls,
        name: str,
        module: str,
        *arguments: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """`python -m module ...` of this environment."""
        return cls(name, [sys.executable, "-m", module, *arguments], folder, environment)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """`None` while it runs."""
        return self._popen.poll()

    @property
    def said(self) -> str:
        """Everything it has written so far."""
        return self.out.read_text(encoding="utf-8", errors="replace")

    @property
    def complained(self) -> str:
        return self.err.read_text(encoding="utf-8", errors="replace")

    def send(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def wait(self) -> int:
        """Its exit code, when it has ended by itself."""
        return self._popen.wait(END_S)

    def kill(self) -> None:
        """At once, and gone when this returns."""
        self._popen.kill()
        self._popen.wait(END_S)

    def end(self) -> None:
        """SIGTERM, then SIGKILL for one that does not follow. A frozen process is woken first."""
        if self.exit_code is None:
            with suppress(ProcessLookupError):
                self.send(signal.SIGCONT)
                self.send(signal.SIGTERM)
            try:
                self._popen.wait(END_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def soon(self, look: Callable[[], T | None], within_s: float = START_S) -> T:
        """What `look` finds, asked again until it finds something; fails when the process ends first."""
        end = time.monotonic() + within_s
        while (found := look()) is None:
            if self.exit_code is not None or time.monotonic() > end:
                raise RuntimeError(
                    f"{self.name} (exit {self.exit_code}):\n{self.said[-2000:]}\n{self.complained[-4000:]}"
                )
            time.sleep(0.02)
        return found
