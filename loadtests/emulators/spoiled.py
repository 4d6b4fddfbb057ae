"""Pictures wrong in the ways back ends get them wrong: cut short, not an image, another size, blacked out."""

import io

from PIL import Image

from loadtests.emulators.pictures import SIGNATURE, marked_png, read_marks

HTML = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>upstream error</body></html>"


def truncated(picture: bytes) -> bytes:
    return picture[: len(picture) * 2 // 3]


def not_an_image(_picture: bytes) -> bytes:
    return HTML


def wrong_size(picture: bytes) -> bytes:
    """A sound PNG of half the width and height."""
    with Image.open(io.BytesIO(picture)) as image:
        half = image.convert("RGB").resize((max(image.width // 2, 1), max(image.height // 2, 1)))
    return marked_png(half, _marks(picture))


def blackened(picture: bytes) -> bytes:
    """What a safety checker leaves of a picture it flags."""
    with Image.open(io.BytesIO(picture)) as image:
        size = image.size
    return marked_png(Image.new("RGB", size), _marks(picture))


def _marks(picture: bytes) -> dict[str, str]:
    return read_marks(picture) if picture.startswith(SIGNATURE) else {}
