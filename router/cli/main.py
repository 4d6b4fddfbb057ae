"""The `spillover` command: every built-in command is attached in `build`, and nowhere else.

Other packages attach theirs by the entry-point group `spillover.commands` (see `router.cli.attached`).
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from router.cli import admin, attached, configuration, healthcheck, keys, serve


def main() -> None:
    """The console script. Exits with 0 ok, 1 failure, 2 wrong usage, 3 not found."""
    build()(prog_name="spillover")


def build() -> typer.Typer:
    """The whole command line."""
    # No rich markup: the help must be fast, and a traceback with local variables would print secrets.
    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(_about)
    attached.attach(app)
    for command in (
        serve.serve,
        healthcheck.healthcheck,
        admin.claim,
        admin.release,
        admin.claims,
        admin.state,
    ):
        app.command()(command)
    for name, group in (("config", configuration.group), ("flags", admin.flags), ("keys", keys.group)):
        app.add_typer(group(), name=name)
    return app


def _about(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=lambda wanted: _version_and_exit() if wanted else None
        ),
    ] = False,
) -> None:
    """Inference router with external overflow: the tool for operators."""


def _version_and_exit() -> None:
    try:
        typer.echo(f"spillover {version('spillover')}")
    except PackageNotFoundError:
        typer.echo("spillover, not installed as a package")
    raise typer.Exit
