"""Which URLs out of a reply may be requested: it is untrusted, and must not lead us just anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from yarl import URL


def is_allowed(url: str, base_url: str, hosts: Sequence[str]) -> bool:
    """The origin of `base_url`, or https on the default port at one of `hosts` or a subdomain of one.

    A host that is written with its port (`10.0.0.5:9000`) is allowed exactly so, in the scheme of `base_url`.
    """
    try:
        parsed, base = URL(url, encoded=True), URL(base_url)
        host, authority, origin = parsed.host, parsed.host_port_subcomponent, parsed.origin()
    except ValueError:
        return False
    if host is None or authority is None or parsed.user is not None or parsed.password is not None:
        return False
    if origin == base.origin():
        return True
    if parsed.scheme == base.scheme and authority in hosts:
        return ":" in authority
    return parsed.scheme == "https" and parsed.is_default_port() and _is_under(host, hosts)


def _is_under(host: str, hosts: Sequence[str]) -> bool:
    return any(host == allowed or host.endswith(f".{allowed}") for allowed in hosts)
