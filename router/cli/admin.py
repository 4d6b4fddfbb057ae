"""`spillover claim | release | claims | flags | state`: what operators do, over the admin HTTP.

Exit codes: 0 done, 1 failure, 2 wrong usage, 3 not found, 4 somebody else's change stands against it.
"""

from __future__ import annotations

import json
import time
from enum import StrEnum
from typing import Annotated, Any

import typer

from router.cli.admin_http import DEFAULT_URL, AdminHttp, AsJson, Key, Url, segment
from router.cli.complaint import ExitCode, complain, give_up

POLL_S = 0.5

Reason = Annotated[str, typer.Option(help="Why; stands in the audit.")]


class Until(StrEnum):
    """What can be waited for."""

    HELD = "held"


def claim(
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="All of these, or none.")],
    owner: Annotated[str, typer.Option(help="Who gets them, such as a job's name.")],
    reason: Reason,
    notice: Annotated[float, typer.Option(min=0, help="Seconds in which short work still starts.")] = 0.0,
    grace: Annotated[float, typer.Option(min=0, help="Seconds for what runs when the notice ends.")] = 60.0,
    ttl: Annotated[float, typer.Option(min=0, help="Seconds until the claim is overdue.")] = 14_400.0,
    wait: Annotated[Until | None, typer.Option(help="Return only when the nodes are yours.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = "",
) -> None:
    """Claim nodes for training: nothing new starts there, and what runs moves or ends."""
    http = AdminHttp(url, key)
    order = {
        "nodes": nodes,
        "owner": owner,
        "reason": reason,
        "notice_s": notice,
        "grace_s": grace,
        "ttl_s": ttl,
    }
    made = http.post("/admin/claims", order)
    _show_claims([_until_held(http, made) if wait is Until.HELD else made], as_json)


def release(
    claim_id: Annotated[str | None, typer.Argument(metavar="CLAIM_ID", help="The claim.")] = None,
    owner: Annotated[str | None, typer.Option(help="All claims of this owner instead.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = "",
) -> None:
    """Give claimed nodes back."""
    if (claim_id is None) == (owner is None):
        raise typer.BadParameter("name a claim, or --owner, and not both", param_hint="CLAIM_ID")
    http = AdminHttp(url, key)
    ids = [claim_id] if claim_id is not None else _claims_of(http, owner or "")
    _show_claims([http.delete(f"/admin/claims/{segment(name)}") for name in ids], as_json)


def claims(
    everything: Annotated[bool, typer.Option("--all", help="The latest ended ones, too.")] = False,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = "",
) -> None:
    """List claims."""
    found = AdminHttp(url, key).get(f"/admin/claims{'?all=true' if everything else ''}")
    _show_claims(found["claims"], as_json)


def state(as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = "") -> None:
    """Show pools, accounts, nodes, claims, flags and alarms."""
    found = AdminHttp(url, key).get("/admin/state")
    if as_json:
        return _print_json(found)
    from router.cli.admin_tables import show_state

    return show_state(found)


def flags() -> typer.Typer:
    """The commands of `spillover flags`."""
    app = typer.Typer(
        no_args_is_help=True, help="Switch nodes, pools, providers, models or the overflow off."
    )
    app.command("set")(_set_flag)
    app.command("clear")(_clear_flag)
    app.command("list")(_list_flags)
    return app


Kind = Annotated[str, typer.Argument(help="node, pool, provider, model or overflow.")]
Name = Annotated[str, typer.Argument(help="Its name; `overflow` for the overflow itself.")]


def _set_flag(
    kind: Kind,
    name: Name,
    reason: Reason,
    expires: Annotated[float, typer.Option(min=1, help="Seconds until it clears itself.")] = 14_400.0,
    keep: Annotated[bool, typer.Option("--keep", help="It does not clear itself.")] = False,
    revision: Annotated[
        int | None, typer.Option(min=0, help="Only over this revision; 0: a new one.")
    ] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = "",
) -> None:
    """Switch something off: it takes no new work."""
    order: dict[str, Any] = {"reason": reason, "expires_s": None if keep else expires}
    if revision is not None:
        order["revision"] = revision
    flag = AdminHttp(url, key).put(f"/admin/flags/{segment(kind)}/{segment(name)}", order)
    _show_flags([flag], flag, as_json)


def _clear_flag(
    kind: Kind, name: Name, as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = ""
) -> None:
    """Switch it on again."""
    cleared = AdminHttp(url, key).delete(f"/admin/flags/{segment(kind)}/{segment(name)}")
    if as_json:
        return _print_json(cleared)
    return typer.echo(f"{kind}/{name} takes work again")


def _list_flags(as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = "") -> None:
    """List what is switched off."""
    found = AdminHttp(url, key).get("/admin/flags")
    _show_flags(found["flags"], found, as_json)


def _until_held(http: AdminHttp, made: dict[str, Any]) -> dict[str, Any]:
    """Looks at the claim until its nodes are empty. An alarm is told once, and waited through."""
    alarm = ""
    while made["phase"] != "held":
        if made["phase"] in ("released", "releasing", "cancelled"):
            give_up(f"the claim {made['id']} ended before it was held", "`spillover claims --all` shows it")
        if made["alarm"] and made["alarm"] != alarm:
            alarm = made["alarm"]
            complain(alarm, f"still waiting; `spillover release {made['id']}` gives up")
        time.sleep(POLL_S)
        made = http.get(f"/admin/claims/{segment(made['id'])}")
    return made


def _claims_of(http: AdminHttp, owner: str) -> list[str]:
    ids = [found["id"] for found in http.get("/admin/claims")["claims"] if found["owner"] == owner]
    if not ids:
        give_up(f"{owner} has no active claim", "`spillover claims` lists them", ExitCode.NOT_FOUND)
    return ids


def _show_claims(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        return _print_json({"claims": found})
    from router.cli.admin_tables import show_claims

    return show_claims(found)


def _show_flags(found: list[dict[str, Any]], document: Any, as_json: bool) -> None:
    if as_json:
        return _print_json(document)
    from router.cli.admin_tables import show_flags

    return show_flags(found)


def _print_json(document: Any) -> None:
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
