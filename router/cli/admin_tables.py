"""Documents of the admin HTTP as tables for people. Colour only on a terminal, and not with NO_COLOR."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDE = 200
"""Columns where the output is no terminal: nothing is cut off in a file or a pipe."""


def show_claims(claims: Sequence[dict[str, Any]]) -> None:
    """One line a claim."""
    rows = [
        (
            claim["id"],
            _phase(claim["phase"]),
            claim["owner"],
            " ".join(claim["nodes"]),
            _moment(claim["expires_at"]),
            claim["alarm"] or ("overdue" if claim["overdue"] else ""),
        )
        for claim in claims
    ]
    _print_table(("claim", "phase", "owner", "nodes", "expires", "alarm"), rows, "no claims")


def show_flags(flags: Sequence[dict[str, Any]]) -> None:
    """One line a flag."""
    rows = [
        (
            flag["kind"],
            flag["name"],
            flag["reason"],
            flag["actor"],
            _moment(flag["expires_at"]),
            str(flag["revision"]),
        )
        for flag in flags
    ]
    _print_table(("kind", "name", "reason", "by", "expires", "revision"), rows, "no flags")


def show_state(state: dict[str, Any]) -> None:
    """The whole deployment, on one screen if it is not large."""
    console = _console()
    ready = "[green]ready[/]" if state["ready"] else "[red]not ready[/]"
    counts = f"{state['in_flight']} in flight here, {state['waiting']} waiting"
    console.print(f"{_plain(state['replica'])}: {ready}, {counts}")
    if not state["overflow_open"]:
        console.print("[yellow]overflow is switched off[/]")
    for alarm in state["alarms"]:
        console.print(f"[red]ALARM[/] {_plain(alarm['subject'])}: {_plain(alarm['message'])}")
    for title, table in (
        ("pools", _pools(state["pools"])),
        ("accounts", _accounts(state["accounts"])),
        ("nodes", _nodes(state["nodes"])),
    ):
        if table.row_count:
            console.print(f"\n[bold]{title}[/]")
            console.print(table)
    for show, name in ((show_claims, "claims"), (show_flags, "flags")):
        if state[name]:
            console.print(f"\n[bold]{name}[/]")
            show(state[name])


def _pools(pools: Iterable[dict[str, Any]]) -> Table:
    table = _table("pool", "open", "waiting", "slots", "free", "leased", "offered", "ghost", "workers up")
    for pool in pools:
        slots, workers = pool["slots"], pool["workers"]
        up = sum(worker["up"] for worker in workers)
        counts = [slots[name] for name in ("total", "free", "leased", "offered", "ghost")]
        numbers = [str(number) for number in (pool["waiting"], *counts)]
        table.add_row(_plain(pool["name"]), _open(pool["open"]), *numbers, f"{up}/{len(workers)}")
    return table


def _accounts(accounts: Iterable[dict[str, Any]]) -> Table:
    table = _table("account", "open", "in flight", "held $", "spent $", "budget $", "cooling until")
    for account in accounts:
        table.add_row(
            _plain(account["name"]),
            _open(account["open"]),
            f"{account['in_flight']}/{account['concurrency']}",
            *(f"{account[name]:.2f}" for name in ("held_usd", "spent_usd", "budget_usd")),
            _moment(account["cooling_until"]) if account["cooling_until"] else "",
        )
    return table


def _nodes(nodes: Iterable[dict[str, Any]]) -> Table:
    table = _table("node", "state", "rack", "nvlink", "pools")
    for node in nodes:
        words = (node["rack"], node["nvlink_domain"], " ".join(node["pools"]))
        table.add_row(_plain(node["name"]), _phase(node["state"]), *map(_plain, words))
    return table


def _print_table(titles: Sequence[str], rows: Sequence[tuple[str, ...]], nothing: str) -> None:
    if not rows:
        _console().print(nothing)
        return
    table = _table(*titles)
    for row in rows:
        table.add_row(*(cell if cell in _COLOURED else _plain(cell) for cell in row))
    _console().print(table)


def _table(*titles: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in titles:
        table.add_column(title)
    return table


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    return console if console.is_terminal else Console(highlight=False, emoji=False, width=WIDE)


_COLOURS = {
    "held": "red",
    "draining": "yellow",
    "claimed": "yellow",
    "requested": "yellow",
    "flagged": "yellow",
    "releasing": "cyan",
    "open": "green",
}
_COLOURED = frozenset(f"[{colour}]{word}[/]" for word, colour in _COLOURS.items())


def _phase(word: str) -> str:
    return f"[{_COLOURS[word]}]{word}[/]" if word in _COLOURS else _plain(word)


def _open(is_open: bool) -> str:
    return "yes" if is_open else "[red]no[/]"


def _plain(text: str) -> str:
    """Words of others: no markup, and nothing that steers the terminal."""
    from rich.markup import escape

    return escape("".join(letter if letter.isprintable() else "?" for letter in str(text)))


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return "never"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%SZ")
