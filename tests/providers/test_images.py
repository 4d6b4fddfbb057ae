"""Images are recognised by head and tail; a cut at any byte, and anything that is no image, is caught."""

from __future__ import annotations

import base64
import io
import random
import time
import zlib
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from providers.contract import Image
from providers.images import Flaw, check_image

PNG = b"\x89PNG\r\n\x1a\n"
FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
sizes = st.tuples(st.integers(1, 90), st.integers(1, 90))
flavours = st.sampled_from(
    [
        ("PNG", {}),
        ("PNG", {"compress_level": 0}),
        ("JPEG", {"quality": 60}),
        ("JPEG", {"progressive": True, "quality": 95}),
        ("JPEG", {"comment": b"x" * 3000, "icc_profile": b"i" * 70_000}),
        ("WEBP", {"quality": 50}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0" + b"e" * 99}),  # makes it VP8X
    ]
)


@cache
def _made(kind: str, options: tuple[tuple[str, object], ...], size: tuple[int, int]) -> bytes:
    rng = random.Random(repr((kind, options, size)))
    image = Pillow.frombytes("RGB", size, rng.randbytes(size[0] * size[1] * 3))
    buffer = io.BytesIO()
    image.save(buffer, kind, **dict(options))
    return buffer.getvalue()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@settings(deadline=None)  # the machine may be busy
@given(flavours, sizes)
def test_a_whole_image_is_recognised(flavour: tuple[str, dict[str, object]], size: tuple[int, int]) -> None:
    kind, options = flavour
    text = _text(_made(kind, tuple(options.items()), size))
    assert check_image(text) == Image(text, FORMATS[kind], *size)
    assert isinstance(check_image(text, size=size, media_type=FORMATS[kind]), Image)


@settings(max_examples=300, deadline=None)
@given(flavours, sizes, st.data())
def test_a_cut_at_any_byte_is_caught(
    flavour: tuple[str, dict[str, object]], size: tuple[int, int], data: st.DataObject
) -> None:
    kind, options = flavour
    whole = _made(kind, tuple(options.items()), size)
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert isinstance(check_image(_text(whole[:cut])), Flaw)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_cut_at_every_single_byte_is_caught(kind: str) -> None:
    whole = _made(kind, (), (40, 30))
    assert [cut for cut in range(len(whole)) if isinstance(check_image(_text(whole[:cut])), Image)] == []


@pytest.mark.parametrize("kind", FORMATS)
def test_a_cut_in_the_text_is_caught(kind: str) -> None:
    text = _text(_made(kind, (), (40, 30)))
    assert [cut for cut in range(len(text)) if isinstance(check_image(text[:cut]), Image)] == []


@settings(deadline=None)  # the machine may be busy
@given(sizes, sizes)
def test_another_size_is_told(made: tuple[int, int], asked: tuple[int, int]) -> None:
    answer = check_image(_text(_made("PNG", (), made)), size=asked)
    assert (answer is Flaw.WRONG_SIZE) == (made != asked)


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(), st.binary().map(_text), st.binary(max_size=40).map(lambda b: _text(PNG + b))))
def test_anything_else_is_a_flaw_and_never_an_exception(text: str) -> None:
    assert isinstance(check_image(text), Flaw)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", Flaw.EMPTY),
        ("not base64!", Flaw.NOT_BASE64),
        ("AAA", Flaw.NOT_BASE64),
        ("ÄÖÜß", Flaw.NOT_BASE64),
        ("====", Flaw.NOT_BASE64),
        (_text(b"<!DOCTYPE html><html>502</html>"), Flaw.MARKUP),
        (_text(b"\xef\xbb\xbf  " + SVG), Flaw.MARKUP),
        (_text(b"GIF89a" + b"\0" * 90), Flaw.UNKNOWN_FORMAT),
        (_text(b"{}"), Flaw.UNKNOWN_FORMAT),
        (_text(PNG), Flaw.TRUNCATED),
        (_text(b"\xff\xd8\xff\xd9"), Flaw.TRUNCATED),
        (_text(b"\xff\xd8\xff\xe0" + b"\0" * 9000 + b"\xff\xd9"), Flaw.BROKEN_HEADER),
    ],
)
def test_each_flaw_has_its_name(text: str, flaw: Flaw) -> None:
    assert check_image(text) is flaw


@pytest.mark.parametrize("letters", ["\n\n\n\n", "\0AAA", '","', "\\u00", "AA==", "-_-_", "\x7fAAA"])
def test_a_letter_that_is_none_is_found_wherever_it_stands(letters: str) -> None:
    """The text goes into the client's JSON as it is."""
    text = _text(_made("PNG", (), (64, 64)))
    assert isinstance(check_image(text), Image)
    for at in (400, len(text) // 2 // 4 * 4, len(text) - 400):
        spoilt = text[:at] + letters.ljust(4, "A") + text[at + 4 :]
        assert check_image(spoilt) is Flaw.NOT_BASE64


def test_a_polyglot_with_an_image_at_its_head_only_is_caught() -> None:
    assert check_image(_text(_made("PNG", (), (8, 8)) + SVG)) is Flaw.TRUNCATED


def test_another_format_than_asked_is_told() -> None:
    text = _text(_made("JPEG", (), (8, 8)))
    assert check_image(text, media_type="image/png") is Flaw.WRONG_FORMAT


def test_sides_of_nought_are_no_image() -> None:
    whole = bytearray(_made("PNG", (), (8, 8)))
    whole[16:20] = bytes(4)
    whole[29:33] = zlib.crc32(whole[12:29]).to_bytes(4, "big")
    assert check_image(_text(bytes(whole))) is Flaw.BROKEN_HEADER


def test_a_large_image_is_not_decoded_whole() -> None:
    """Fifty checks of 15 MB: decoding them would take three seconds; looking at their letters takes one."""
    end = b"\x00\x00\x00\x00IEND\xae\x42\x60\x82"
    large = _text(_made("PNG", (), (8, 8))[:33] + b"\0" * 15_000_000 + end)
    began = time.process_time()
    assert all(isinstance(check_image(large), Image) for _ in range(50))
    assert time.process_time() - began < 2.0
