"""How a command ends badly: one line of what is wrong and one of what to do next, on stderr."""

from __future__ import annotations

from enum import IntEnum
from typing import NoReturn

import typer


class ExitCode(IntEnum):
    """What a script may rely on."""

    FAILURE = 1
    USAGE = 2
    NOT_FOUND = 3


def give_up(message: str, next_step: str, code: ExitCode = ExitCode.FAILURE) -> NoReturn:
    """Say what is wrong and what to do, and exit with `code`."""
    complain(message, next_step)
    raise typer.Exit(code)


def complain(message: str, next_step: str) -> None:
    """Say what is wrong and what to do."""
    typer.echo(f"spillover: {message}", err=True)
    typer.echo(f"  {next_step}", err=True)
