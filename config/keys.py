"""API keys: `spk_<id>_<secret>`. The config holds the id and the SHA-256 of the secret, never the secret.

A secret is 256 random bits, so a plain fast hash is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.schema import Key

RANDOM_BYTES = 44
"""How many random bytes `create` turns into a key."""

_FORMAT = re.compile(r"spk_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_BYTES = 12
# No secret hashes to this, so a presented key of unknown id is compared with something and never equal.
_NOBODY = "0" * 64


@dataclass(frozen=True, slots=True)
class Presented:
    """A key as a client shows it."""

    id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"spk_{self.id}_..."

    @property
    def text(self) -> str:
        """The whole key, to be shown once to whom it is for."""
        return f"spk_{self.id}_{self.secret}"

    @property
    def secret_sha256(self) -> str:
        """What the config keeps of it."""
        return hashlib.sha256(self.secret.encode("ascii")).hexdigest()


def find(keys_by_id: Mapping[str, Key], presented: str) -> Key | None:
    """The key whose secret is shown, or `None`. A disabled key is found too: the caller tells the client so.

    An unknown id takes as long as a wrong secret, so that ids cannot be tried out by the clock.
    """
    shown = parse(presented)
    if shown is None:
        return None
    key = keys_by_id.get(shown.id)
    expected = key.secret_sha256 if key is not None else _NOBODY
    return key if hmac.compare_digest(shown.secret_sha256, expected) else None


def parse(text: str) -> Presented | None:
    """The parts of a key, or `None` where `text` is not one."""
    match = _FORMAT.fullmatch(text)
    return Presented(match[1], match[2]) if match else None


def create(random: bytes) -> Presented:
    """A new key out of `RANDOM_BYTES` random bytes."""
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"a key takes {RANDOM_BYTES} random bytes")
    number = int.from_bytes(random[:_ID_BYTES], "big")
    identity = ""
    for _ in range(12):
        number, digit = divmod(number, len(_ALPHABET))
        identity += _ALPHABET[digit]
    return Presented(identity, urlsafe_b64encode(random[_ID_BYTES:]).decode().rstrip("="))
