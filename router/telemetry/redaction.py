"""Takes what looks like a secret out of a line that is about to be written."""

from __future__ import annotations

import re

HIDDEN = "[redacted]"

_END = r"""[^\s"'\\,;]"""
_SECRET = re.compile(
    rf"""
    (?P<scheme> \b(?:Bearer|Basic)\s+ ) {_END}+
  | (?P<key> \bKey\s+ ) {_END}+:{_END}+
  | (?P<ours> \bspk_[a-z0-9]{{12}}_ ) {_END}+
  | (?P<user> ://[^\s/"'\\:@]* : ) [^\s/"'\\@]+ (?=@)
  | (?P<query> [?&](?:sig|signature|token|key|api_key|x-amz-signature|x-amz-credential)= ) [^\s"'\\&]+
    """,
    re.VERBOSE | re.IGNORECASE,
)


def redacted(line: str) -> str:
    """The line with credentials of the usual shapes hidden; a public key id stays."""
    return _SECRET.sub(lambda found: (found[found.lastgroup or 0] or "") + HIDDEN, line)
