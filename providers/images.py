"""Checks of a finished image from its base64 text, without decoding it whole.

Decoding 1.5 MB would block the event loop for milliseconds. Only the head, the segment heads on the way to
the dimensions, and the tail are decoded: base64 text can be read at any multiple of three bytes. The letters
are all looked at: a text with a line break in it would end as broken JSON at the client.
This catches what really happens (an error page, markup, another format, another size, a body cut short); it
does not catch flipped bytes in the middle.
"""

from __future__ import annotations

import binascii
import zlib
from dataclasses import dataclass
from enum import StrEnum

from providers.contract import Image

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
HEAD_BYTES = 96
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PNG_END = b"\x00\x00\x00\x00IEND\xae\x42\x60\x82"
JPEG_END = b"\xff\xd9"
JPEG_MAX_SEGMENTS = 300  # a large colour profile takes at most 255 segments
# Start-of-frame markers: 0xC0-0xCF without DHT (C4), JPG (C8) and DAC (CC); ITU-T T.81 table B.1
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_SCAN = 0xDA


class Flaw(StrEnum):
    """Why a text is not the image that was asked for; used as a `Failed.code`."""

    EMPTY = "image_empty"
    NOT_BASE64 = "image_not_base64"
    MARKUP = "image_is_markup"
    UNKNOWN_FORMAT = "image_unknown_format"
    BROKEN_HEADER = "image_broken_header"
    TRUNCATED = "image_truncated"
    WRONG_SIZE = "image_wrong_size"
    WRONG_FORMAT = "image_wrong_format"


def has_base64_letters_only(text: str) -> bool:
    """Nothing but base64's 64 letters, and up to two `=` at the end. A millisecond for 1.5 MB."""
    if not text.isascii():
        return False
    others = text.encode("ascii").translate(None, LETTERS)
    return others in (b"", b"=", b"==") and text.endswith(others.decode("ascii"))


def check_image(
    b64: str, *, size: tuple[int, int] | None = None, media_type: str | None = None
) -> Image | Flaw:
    """The image in `b64`, or what is wrong with it; `size` and `media_type` are checked where given."""
    if not b64:
        return Flaw.EMPTY
    try:
        text = _Base64(b64)
        kind, found = _recognise(text)
    except _FlawedError as flawed:
        return flawed.flaw
    except binascii.Error:
        return Flaw.NOT_BASE64
    if media_type is not None and kind != media_type:
        return Flaw.WRONG_FORMAT
    if size is not None and found != size:
        return Flaw.WRONG_SIZE
    return Image(b64, kind, *found)


class _FlawedError(Exception):
    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw)
        self.flaw = flaw


@dataclass(frozen=True, slots=True)
class _Base64:
    """Bytes behind base64 text, decoded where they are looked at."""

    text: str

    def __post_init__(self) -> None:
        if len(self.text) % 4 or not has_base64_letters_only(self.text):
            raise _FlawedError(Flaw.NOT_BASE64)

    def __len__(self) -> int:
        padding = 2 if self.text.endswith("==") else int(self.text.endswith("="))
        return len(self.text) // 4 * 3 - padding

    def peek(self, start: int, size: int) -> bytes:
        """`size` bytes from `start`; fewer at the end."""
        first = start // 3
        last = -(-(start + size) // 3)
        raw = binascii.a2b_base64(self.text[first * 4 : last * 4], strict_mode=True)
        return raw[start - first * 3 :][:size]

    def tail(self, size: int) -> bytes:
        return self.peek(max(0, len(self) - size), size)


def _recognise(text: _Base64) -> tuple[str, tuple[int, int]]:
    head = text.peek(0, HEAD_BYTES)
    if head.startswith(PNG_MAGIC):
        return "image/png", _png(text, head)
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", _jpeg(text)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp", _webp(text, head)
    known = (PNG_MAGIC, b"\xff\xd8\xff", b"RIFF")
    if any(magic.startswith(head) for magic in known):  # only a few bytes, all of them right
        raise _FlawedError(Flaw.TRUNCATED)
    markup = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    raise _FlawedError(Flaw.MARKUP if markup else Flaw.UNKNOWN_FORMAT)


def _png(text: _Base64, head: bytes) -> tuple[int, int]:
    if len(head) < 33 or text.tail(len(PNG_END)) != PNG_END:
        raise _FlawedError(Flaw.TRUNCATED)
    header_is_whole = zlib.crc32(head[12:29]) == int.from_bytes(head[29:33], "big")
    if head[8:16] != b"\x00\x00\x00\rIHDR" or not header_is_whole:
        raise _FlawedError(Flaw.BROKEN_HEADER)
    return _sides(int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big"))


def _jpeg(text: _Base64) -> tuple[int, int]:
    """Walk from segment to segment up to the first scan; the frame before it holds the dimensions."""
    if text.tail(2) != JPEG_END:
        raise _FlawedError(Flaw.TRUNCATED)
    found: tuple[int, int] | None = None
    at = 2
    for _ in range(JPEG_MAX_SEGMENTS):
        segment = text.peek(at, 9)
        if len(segment) < 9:
            raise _FlawedError(Flaw.TRUNCATED)
        if segment[0] != 0xFF:
            raise _FlawedError(Flaw.BROKEN_HEADER)
        if segment[1] == JPEG_SCAN and found is not None:
            return found
        if segment[1] in JPEG_FRAMES:
            found = _sides(int.from_bytes(segment[7:9], "big"), int.from_bytes(segment[5:7], "big"))
        at += 2 + int.from_bytes(segment[2:4], "big")
    raise _FlawedError(Flaw.BROKEN_HEADER)


def _webp(text: _Base64, head: bytes) -> tuple[int, int]:
    if len(head) < 30 or int.from_bytes(head[4:8], "little") + 8 != len(text):
        raise _FlawedError(Flaw.TRUNCATED)
    match head[12:16]:
        case b"VP8X":  # 24 bits each, minus one
            return _sides(
                int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
            )
        case b"VP8L" if head[20] == 0x2F:  # 14 bits each, minus one
            bits = int.from_bytes(head[21:25], "little")
            return _sides((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 " if head[23:26] == b"\x9d\x01\x2a":  # 14 bits each, below two bits of scale
            width, height = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
            return _sides(width & 0x3FFF, height & 0x3FFF)
        case _:
            raise _FlawedError(Flaw.BROKEN_HEADER)


def _sides(width: int, height: int) -> tuple[int, int]:
    if not width or not height:
        raise _FlawedError(Flaw.BROKEN_HEADER)
    return width, height
