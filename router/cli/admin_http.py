"""The admin HTTP as a command sees it: one JSON call, and how each kind of `no` ends the command.

Redirects and the environment's proxies are not followed: the key goes to one address.
"""

from __future__ import annotations

import getpass
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from router.cli.complaint import ExitCode, complain, give_up

if TYPE_CHECKING:
    from httpx2 import Response

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
        import httpx2

        headers = {"Authorization": f"Bearer {self.key}", "Spillover-Actor": _me()}
        try:
            with httpx2.Client(trust_env=False, follow_redirects=False, timeout=TIMEOUT_S) as client:
                reply = client.request(method, self.url.rstrip("/") + path, headers=headers, json=body)
                if not reply.is_success:
                    _refused(reply)
                return reply.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            give_up(
                f"{self.url} gives no answer: {str(error) or type(error).__name__}",
                "is the router running, and is this its address? Set SPILLOVER_URL, or give --url",
            )


def segment(name: str) -> str:
    """A name as one part of a path."""
    from urllib.parse import quote

    return quote(name, safe="")


def _refused(reply: Response) -> NoReturn:
    """The problem's own words are one line of what is wrong and what to do."""
    problem: dict[str, Any] = {}
    with suppress(ValueError):
        found = reply.json()
        problem = found if isinstance(found, dict) else {}
    said = _printable(problem.get("detail")) or f"status {reply.status_code}"
    asked = _printable(problem.get("request_id")) or "none"
    complain(said, _next_step(reply.status_code, asked))
    codes = {404: ExitCode.NOT_FOUND, 409: CONFLICT, 400: ExitCode.USAGE, 422: ExitCode.USAGE}
    raise typer.Exit(codes.get(reply.status_code, ExitCode.FAILURE))


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
