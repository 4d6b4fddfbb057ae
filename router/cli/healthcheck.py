"""`spillover healthcheck`: one GET, for a container's health check. Uses the standard library only."""

from __future__ import annotations

from typing import Annotated

import typer

from router.cli.complaint import give_up

_NEXT = "is the router running, and is this its address?"


def healthcheck(
    url: Annotated[str, typer.Option(help="What to ask.")] = "http://127.0.0.1:8080/livez",
    timeout_s: Annotated[float, typer.Option(min=0.1, help="How long to wait.")] = 3.0,
) -> None:
    """Exit with 0 if the address answers with 2xx, else with 1."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import ProxyHandler, build_opener

    if not url.startswith(("http://", "https://")):
        raise typer.BadParameter("write http:// or https://", param_hint="--url")
    # The check is about this machine, so a proxy of the environment has no part in it.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(url, timeout=timeout_s) as reply:
            status = reply.status
    except HTTPError as error:
        give_up(f"{url}: status {error.code}", _NEXT)
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        give_up(f"{url}: {str(reason) or type(reason).__name__}", _NEXT)
    if not 200 <= status < 300:
        give_up(f"{url}: status {status}", _NEXT)
