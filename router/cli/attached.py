"""Commands of other packages, by the entry-point group `spillover.commands`.

An entry point is a `typer.Typer` or a function; its name is the command's name. It is imported when it is
invoked, so that a slow or broken package costs the other commands nothing.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import typer

from router.cli.complaint import give_up

GROUP = "spillover.commands"

_PASS_EVERYTHING_ON = {"ignore_unknown_options": True, "allow_extra_args": True}


def attach(app: typer.Typer) -> None:
    """Add a command for each entry point; a built-in command of the same name, added later, wins."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        _attach(app, entry)


def _attach(app: typer.Typer, entry: EntryPoint) -> None:
    package = entry.dist.name if entry.dist else entry.module

    # Without a help option of its own `spillover NAME --help` reaches the command itself.
    @app.command(
        entry.name,
        help=f"From the package {package}.",
        context_settings=_PASS_EVERYTHING_ON,
        add_help_option=False,
    )
    def run(context: typer.Context) -> None:
        _load(entry)(args=context.args, prog_name=context.command_path)


def _load(entry: EntryPoint) -> typer.Typer:
    try:
        found = entry.load()
    except ImportError as error:
        give_up(
            f"the command {entry.name} cannot be loaded: {error}",
            "install what it needs, such as spillover[demo]",
        )
    if isinstance(found, typer.Typer):
        return found
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(found)
    return app
