"""Real pictures with a receipt inside: a PNG whose pixels come from the request and whose text names the job.

Two generations of one request look alike wherever they ran; the tEXt chunks tell whose bytes a client
received, so a test can prove that nobody got somebody else's picture. The pixels never depend on the job.
Chunk layout: PNG specification (third edition), sections 5.3 and 11.3.3.
"""

import hashlib
import io
import json
import random
import struct
import zlib
from collections.abc import Iterator

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from loadtests.emulators.scenery import paint

JOB, PROMPT, SEED, INDEX = "spillover-job", "spillover-prompt", "spillover-seed", "spillover-index"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def picture(prompt: str, seed: int, width: int, height: int, index: int, job: str) -> bytes:
    """A PNG that depends on everything but `job` in its pixels, and carries `job` in its text."""
    source = f"{prompt}\0{seed}\0{width}x{height}\0{index}".encode()
    rng = random.Random(hashlib.sha256(source).digest())
    marks = {JOB: job, PROMPT: prompt_mark(prompt), SEED: str(seed), INDEX: str(index)}
    return marked_png(paint(rng, width, height), marks)


def prompt_mark(prompt: str) -> str:
    """How a prompt is named where its text must not stand."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


def read_marks(png: bytes) -> dict[str, str]:
    """The `spillover-*` texts of a PNG; ValueError if the file is not a whole, intact PNG."""
    marks: dict[str, str] = {}
    for kind, data in _chunks(png):
        if kind == b"tEXt":
            key, _, value = data.partition(b"\0")
            marks[key.decode("latin-1")] = value.decode("latin-1")
    return {key: value for key, value in marks.items() if key.startswith("spillover-")}


def marked_png(image: Image.Image, marks: dict[str, str]) -> bytes:
    text = PngInfo()
    for key, value in marks.items():
        text.add_text(key, value)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1, pnginfo=text)
    return buffer.getvalue()


def encoded(png: bytes, output_format: str) -> bytes:
    """The same picture as `png`, `jpeg` or `webp`. JPEG keeps the marks as JSON in its comment."""
    if output_format == "png":
        return png
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        if output_format == "jpeg":
            image.save(buffer, "JPEG", quality=85, comment=json.dumps(read_marks(png)))
        else:
            image.save(buffer, "WEBP", quality=85, method=0)
    return buffer.getvalue()


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not png.startswith(SIGNATURE):
        raise ValueError("not a PNG: the signature is missing")
    position, kind = len(SIGNATURE), b""
    while kind != b"IEND":
        if position + 12 > len(png):
            raise ValueError("truncated PNG: no IEND")
        length, kind = struct.unpack_from(">I4s", png, position)
        data = png[position + 8 : position + 8 + length]
        if len(data) < length or position + 12 + length > len(png):
            raise ValueError(f"truncated PNG: {kind!r} is cut short")
        (checksum,) = struct.unpack_from(">I", png, position + 8 + length)
        if checksum != zlib.crc32(kind + data):
            raise ValueError(f"damaged PNG: bad checksum of {kind!r}")
        yield kind, data
        position += 12 + length
