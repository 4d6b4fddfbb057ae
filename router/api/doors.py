"""Which key opens which path: a dependency of FastAPI's routers, never a comparison of paths."""

from __future__ import annotations

import re

from starlette.requests import Request

from router.api.tenants import Caller, Keyring, Scope

_CALLER = "spillover.caller"
_ODD = re.compile(r"[^A-Za-z0-9@._-]")


class Door:
    """Lets a request in if its key has one of the scopes; without scopes, any key will do."""

    def __init__(self, keyring: Keyring, *scopes: Scope) -> None:
        self._keyring = keyring
        self._scopes = scopes

    async def __call__(self, request: Request) -> None:
        """Raises a `Refusal`, or notes who has come in."""
        shown = request.headers.get("authorization", "").encode("latin-1")
        if self._scopes:
            request.scope[_CALLER] = self._keyring.with_scope(shown, *self._scopes)
        else:
            request.scope[_CALLER] = self._keyring.caller(shown)


def actor(request: Request) -> str:
    """Who does this, for the audit: the key's public id, and the name that its holder gives."""
    caller: Caller = request.scope[_CALLER]
    said = _ODD.sub("_", request.headers.get("spillover-actor", ""))[:64]
    return f"{caller.key_id}:{said}" if said else caller.key_id
