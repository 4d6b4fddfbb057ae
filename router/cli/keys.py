"""`spillover keys create`: a new API key, shown once, and the block of YAML that lets it in."""

from __future__ import annotations

import json
import secrets
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from config.schema import Key


class Scope(StrEnum):
    """What a key opens."""

    GENERATE = "generate"
    ADMIN = "admin"
    METRICS = "metrics"


def group() -> typer.Typer:
    """The commands of `spillover keys`."""
    app = typer.Typer(no_args_is_help=True, help="Make API keys.")
    app.callback()(_about)
    app.command()(create)
    return app


def create(
    tenant: Annotated[str, typer.Option(help="Whose requests these are; one of `tenants`.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="May be repeated; `generate` if left out.")
    ] = None,
    note: Annotated[str, typer.Option(help="Who has this key, and why.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a key. The configuration gets only its hash; the key itself is printed here and kept nowhere."""
    from config.keys import RANDOM_BYTES
    from config.keys import create as made

    new = made(secrets.token_bytes(RANDOM_BYTES))
    entry = {
        "id": new.id,
        "secret_sha256": new.secret_sha256,
        "tenant": tenant,
        "scopes": [str(name) for name in dict.fromkeys(scope or [Scope.GENERATE])],
        "note": note,
    }
    _checked(entry)
    if as_json:
        typer.echo(json.dumps({"key": new.text, "config": entry, "yaml": _yaml(entry)}, indent=2))
        return
    typer.echo(f"# The key, shown this once:\n{new.text}\n\n# Paste under `keys:` in the configuration:")
    typer.echo(_yaml(entry), nl=False)


def _about() -> None:
    # With a callback `keys` stays a group, although it has only one command so far.
    """Make API keys."""


def _checked(entry: dict[str, Any]) -> Key:
    from pydantic import ValidationError

    from config.schema import Key

    if not entry["note"].isprintable():
        raise typer.BadParameter("only printable characters, on one line", param_hint="--note")
    try:
        return Key.model_validate(entry)
    except ValidationError:
        raise typer.BadParameter(
            "letters, digits, `.`, `_` and `-`, at most 63", param_hint="--tenant"
        ) from None


def _yaml(entry: dict[str, Any]) -> str:
    # A JSON text is a YAML scalar, and quotes keep an id such as `123456789e12` a text.
    rows = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items() if value]
    return "".join(f"{'  - ' if index == 0 else '    '}{row}\n" for index, row in enumerate(rows))
