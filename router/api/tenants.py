"""Who is calling: an API key in `Authorization: Bearer`, looked up in the configuration.

No key, a wrong one and a disabled one are answered alike, so that nothing can be learned by trying.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from config.keys import find
from config.schema import Config
from router.api.refusals import Refusal
from router.model.ticket import Tenant

Scope = Literal["generate", "admin", "metrics"]

_LONGEST = 256


@dataclass(frozen=True, slots=True)
class Caller:
    """The key that was shown, by its public id, and whose it is."""

    key_id: str
    scopes: frozenset[str]
    tenant: Tenant
    request_class: str


class Keyring:
    """All keys of a deployment that open something."""

    def __init__(self, config: Config) -> None:
        self._keys = {key.id: key for key in config.keys}
        self._callers = {
            key.id: Caller(
                key_id=key.id,
                scopes=frozenset(key.scopes),
                tenant=Tenant(
                    name=key.tenant,
                    external=config.tenants[key.tenant].external,
                    allow_double_spend=config.tenants[key.tenant].allow_double_spend,
                ),
                request_class=config.tenants[key.tenant].request_class,
            )
            for key in config.keys
            if not key.disabled
        }

    def caller(self, authorization: bytes | None) -> Caller:
        """Whose key this is; raises a `Refusal` where it is nobody's."""
        scheme, _, shown = (authorization or b"").strip().partition(b" ")
        if scheme.lower() == b"bearer" and len(shown) <= _LONGEST:
            key = find(self._keys, shown.strip().decode("latin-1"))
            if key is not None and (caller := self._callers.get(key.id)) is not None:
                return caller
        raise Refusal("unauthenticated", headers=(("www-authenticate", "Bearer"),))

    def with_scope(self, authorization: bytes | None, *scopes: Scope) -> Caller:
        """The caller, if its key has one of these scopes; raises a `Refusal` otherwise."""
        caller = self.caller(authorization)
        if caller.scopes.isdisjoint(scopes):
            wanted = " or ".join(f"`{scope}`" for scope in scopes)
            raise Refusal("forbidden", f"This key does not open this path. Use one with the scope {wanted}.")
        return caller

    def any_with(self, scope: Scope) -> bool:
        """Is there a key in use that has this scope?"""
        return any(scope in caller.scopes for caller in self._callers.values())
