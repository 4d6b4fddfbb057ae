"""Which configuration file a command reads, and how its problems are printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from router.cli.complaint import ExitCode, give_up

if TYPE_CHECKING:
    from config.loading import Loaded, Refused
    from config.problems import Problem

DEFAULT = Path("config/spillover.yaml")

ConfigPath = Annotated[
    Path, typer.Argument(metavar="PATH", envvar="SPILLOVER_CONFIG", help="The configuration file.")
]


def load_file(path: Path) -> Loaded | Refused:
    """The outcome of reading `path`, dialects asked as well; exits with 2 where there is no such file."""
    from config.loading import Loaded, Refused, load
    from router.cli.dialects import dialect_problems

    if not path.is_file():
        give_up(f"there is no file {path}", "name one, or set SPILLOVER_CONFIG", ExitCode.USAGE)
    outcome = load(path)
    if isinstance(outcome, Loaded) and (problems := tuple(dialect_problems(outcome))):
        return Refused(problems)
    return outcome


def lines(path: Path, problems: Iterable[Problem], *marks: str) -> Iterable[str]:
    """Each problem as one line, as compilers print theirs; `marks` stand before the message."""
    for problem in problems:
        what = [*marks, problem.path, problem.message]
        hint = f" ({problem.hint})" if problem.hint else ""
        yield f"{path}:{problem.line}:{problem.column}: " + ": ".join(part for part in what if part) + hint
