"""What an error body says, in the shapes servers use. For classification only: its text may hold a prompt.

Shapes: `{"error": {"message", "type", "code"}}` (OpenAI, vLLM), `{"detail": "text"}` and
`{"detail": [{"msg", "type"}]}` (FastAPI: SGLang, fal), `{"message"}`, and anything else as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

TEXT_BYTES = 16 * 1024
MACHINE_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
POLICY = re.compile(
    r"content_policy|content policy|moderation_blocked|content_filter|safety system|safety checker"
)
OUT_OF_MEMORY = re.compile(r"out of memory|outofmemory|out_of_memory")
CREDIT = re.compile(
    r"exhausted balance|insufficient_quota|billing_hard_limit|top[_ ]up|insufficient (funds|credit|balance)"
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """`words` are machine words (types and codes); `text` is everything said, in lower case and bounded."""

    words: tuple[str, ...]
    text: str = field(repr=False)

    @property
    def is_policy(self) -> bool:
        """The content was refused."""
        return POLICY.search(self.text) is not None

    @property
    def is_out_of_memory(self) -> bool:
        """The GPU had too little memory."""
        return OUT_OF_MEMORY.search(self.text) is not None

    @property
    def is_credit(self) -> bool:
        """The account has no money."""
        return CREDIT.search(self.text) is not None


def read_complaint(body: bytes) -> Complaint:
    """The complaint in `body`; never fails, whatever the body is."""
    bounded = body[:TEXT_BYTES]
    try:
        said = list(_said(msgspec.json.decode(bounded)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Complaint((), bounded.decode("utf-8", "replace").lower())
    words = (word for kind, word in said if kind in ("type", "code", "error_type"))
    machine_words = tuple(word for word in words if MACHINE_WORD.fullmatch(word))
    return Complaint(machine_words, "\n".join(text for _, text in said).lower()[:TEXT_BYTES])


SAYING = ("error", "detail", "message", "msg", "type", "code", "error_type")


def _said(value: object, kind: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield kind, value
        case list():
            for item in value[:16]:
                yield from _said(item, kind)
        case dict():
            for key in SAYING:
                yield from _said(value.get(key), key)
        case _:
            return
