"""`spillover config validate | schema | explain`: a configuration file without running it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from router.cli.complaint import ExitCode, complain, give_up
from router.cli.config_file import DEFAULT, ConfigPath, lines, load_file

if TYPE_CHECKING:
    from config.explaining import Explanation
    from config.loading import Loaded, Refused

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def group() -> typer.Typer:
    """The commands of `spillover config`."""
    app = typer.Typer(no_args_is_help=True, help="Check and explain a configuration file.")
    for command in (validate, schema, explain):
        app.command()(command)
    return app


def validate(
    path: ConfigPath = DEFAULT,
    as_json: AsJson = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")] = False,
) -> None:
    """Check a file. Exits with 0 if it is fine, 1 if it has problems, 2 on wrong usage."""
    outcome = load_file(path)
    report = _report(path, outcome)
    bad = bool(report["problems"] or (strict and report["warnings"]))
    if as_json:
        typer.echo(json.dumps(report | {"ok": not bad}, indent=2))
    else:
        _print_report(path, outcome)
    raise typer.Exit(ExitCode.FAILURE if bad else 0)


def schema() -> None:
    """Print the JSON Schema of the file, as in config/schema.json."""
    from config.published import schema_text

    typer.echo(schema_text(), nl=False)


def explain(
    key: Annotated[str, typer.Argument(help="Such as pools.fal.concurrency or keys[0].tenant.")],
    path: ConfigPath = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Tell what a key is for, what it may be, what it is now, and where that was said. Secrets are masked."""
    from config.explaining import Unknown
    from config.explaining import explain as explained

    found = explained(key, _loaded(path))
    if isinstance(found, Unknown):
        give_up(
            f"there is no key {found.path}", found.hint or "see `spillover config schema`", ExitCode.NOT_FOUND
        )
    if as_json:
        typer.echo(json.dumps(_as_json(found), indent=2, ensure_ascii=False))
    else:
        _print_explanation(found, path)


def _report(path: Path, outcome: Loaded | Refused) -> dict[str, Any]:
    return {
        "file": str(path),
        "ok": False,
        "text_hash": getattr(outcome, "text_hash", None),
        "problems": [asdict(problem) for problem in getattr(outcome, "problems", ())],
        "warnings": [asdict(warning) for warning in getattr(outcome, "warnings", ())],
    }


def _print_report(path: Path, outcome: Loaded | Refused) -> None:
    from config.loading import Refused

    if isinstance(outcome, Refused):
        for line in lines(path, outcome.problems):
            typer.echo(line)
        count = len(outcome.problems)
        complain(
            f"{path}: {count} problem{'s' if count > 1 else ''}",
            "`spillover config explain KEY` tells what a key may be",
        )
        return
    for line in lines(path, outcome.warnings, "warning"):
        typer.echo(line)
    typer.echo(f"{path}: ok, {outcome.text_hash[:12]}")


def _loaded(path: Path) -> Loaded | None:
    from config.loading import Loaded, load

    outcome = load(path)
    if isinstance(outcome, Loaded):
        return outcome
    complain(
        f"{path} cannot be used; this is what the schema says", f"run `spillover config validate {path}`"
    )
    return None


def _as_json(found: Explanation) -> dict[str, Any]:
    texts = {name: json.loads(text) if text else None for name, text in _json_texts(found)}
    return asdict(found) | texts


def _json_texts(found: Explanation) -> tuple[tuple[str, str], ...]:
    return ("default", found.default), ("value", found.value)


def _print_explanation(found: Explanation, path: Path) -> None:
    place = f", {path}:{found.line}" if found.line else ""
    rows = [
        ("type", found.type),
        ("keys", ", ".join(found.keys)),
        ("default", found.default),
        ("value", "" if found.keys else found.value),
        ("source", found.source + place),
    ]
    typer.echo(found.path)
    for line in found.doc.splitlines():
        typer.echo(f"  {line}".rstrip())
    for name, text in rows:
        if text:
            typer.echo(f"  {name:<8} {text}")
