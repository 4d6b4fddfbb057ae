"""`spillover serve`: check the configuration, then run one replica until it is told to stop."""

from __future__ import annotations

import typer

from router.cli.complaint import give_up
from router.cli.config_file import DEFAULT, ConfigPath, lines, load_file


def serve(path: ConfigPath = DEFAULT) -> None:
    """Run one replica of the router."""
    from config.loading import Refused

    loaded = load_file(path)
    if isinstance(loaded, Refused):
        for line in lines(path, loaded.problems):
            typer.echo(line, err=True)
        give_up(f"{path} cannot be used", f"fix it, then `spillover config validate {path}`")
    for line in lines(path, loaded.warnings, "warning"):
        typer.echo(line, err=True)
    from router.app.process import serve as run

    raise typer.Exit(run(loaded))
