"""The admin HTTP as a command sees it: one JSON call, and how each kind of `no` ends the command.

Standard library only. Redirects and the environment's proxies are not followed: the key goes to one address.
"""

from __future__ import annotations

import getpass
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from router.cli.complaint import ExitCode, complain, give_up

if TYPE_CHECKING:
    from urllib.error import HTTPError

TIMEOUT_S = 10.0
CONFLICT = 4
"""The exit code of a change that somebody else's stands against."""

Url = Annotated[str, typer.Option("--url", envvar="SPILLOVER_URL", help="Where the router listens.")]
Key = Annotated[
    str,
    typer.Option(
        "--key", envvar="SPILLOVER_ADMIN_KEY", show_default=False, help="A key with the scope `admin`."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

DEFAULT_URL = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class AdminHttp:
    """One router, spoken to with one key."""

    url: str
    key: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise typer.BadParameter("write http:// or https://", param_hint="--url")
        if not self.key or not self.key.isascii() or not self.key.isprintable():
            give_up("there is no admin key", "set SPILLOVER_ADMIN_KEY, or give --key", ExitCode.USAGE)

    def get(self, path: str) -> Any:
        """Reads a document."""
        return self._call("GET", path, None)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Makes something new."""
        return self._call("POST", path, body)

    def put(self, path: str, body: dict[str, Any]) -> Any:
        """Writes something of that name."""
        return self._call("PUT", path, body)

    def delete(self, path: str) -> Any:
        """Takes something away."""
        return self._call("DELETE", path, None)

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import ProxyHandler, Request, build_opener

        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = Request(  # noqa: S310 (the scheme is checked above)
            self.url.rstrip("/") + path, data, headers | {"Spillover-Actor": _me()}, method=method
        )
        try:
            with build_opener(ProxyHandler({}), _no_redirects()).open(request, timeout=TIMEOUT_S) as reply:
                return json.load(reply)
        except HTTPError as error:
            _refused(error)
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            give_up(
                f"{self.url} gives no answer: {str(reason) or type(reason).__name__}",
                "is the router running, and is this its address? Set SPILLOVER_URL, or give --url",
            )


def segment(name: str) -> str:
    """A name as one part of a path."""
    from urllib.parse import quote

    return quote(name, safe="")


def _refused(error: HTTPError) -> NoReturn:
    """The problem's own words are one line of what is wrong and what to do."""
    problem: dict[str, Any] = {}
    try:
        found = json.loads(error.read())
        problem = found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        pass
    said = _printable(problem.get("detail")) or f"status {error.code}"
    asked = _printable(problem.get("request_id")) or "none"
    complain(said, _next_step(error.code, asked))
    codes = {404: ExitCode.NOT_FOUND, 409: CONFLICT, 400: ExitCode.USAGE, 422: ExitCode.USAGE}
    raise typer.Exit(codes.get(error.code, ExitCode.FAILURE))


def _next_step(status: int, request_id: str) -> str:
    match status:
        case 401 | 403:
            return "set SPILLOVER_ADMIN_KEY to a key that has the scope `admin`"
        case 404:
            return "`spillover state` shows what there is"
        case 409:
            return "`spillover claims` and `spillover flags list` show what stands"
        case 503:
            return "nothing is known to have changed; try again shortly"
        case _:
            return f"request id: {request_id}"


def _printable(text: Any) -> str:
    """A server's words must not steer the terminal."""
    return "".join(letter for letter in str(text or "") if letter.isprintable())[:500]


def _me() -> str:
    try:
        return getpass.getuser().encode("ascii", "replace").decode("ascii")
    except (OSError, KeyError):
        return "unknown"


def _no_redirects() -> Any:
    from urllib.request import HTTPRedirectHandler

    class NoRedirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    return NoRedirects()
