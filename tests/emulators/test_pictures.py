"""A picture is a real PNG, is made by its request alone, and says for which job it was made."""

from __future__ import annotations

import io
import time

import pytest
from PIL import Image

from loadtests.emulators import picture, prompt_mark, read_marks
from loadtests.emulators.pictures import encoded


def pixels(png: bytes) -> bytes:
    with Image.open(io.BytesIO(png)) as image:
        return image.convert("RGB").tobytes()


def test_marks_come_back() -> None:
    png = picture("a red hill", 7, 96, 64, 2, "job-1.x/y")
    assert read_marks(png) == {
        "spillover-job": "job-1.x/y",
        "spillover-prompt": prompt_mark("a red hill"),
        "spillover-seed": "7",
        "spillover-index": "2",
    }


def test_the_job_may_be_empty() -> None:
    assert read_marks(picture("p", 1, 32, 32, 0, ""))["spillover-job"] == ""


@pytest.mark.parametrize("size", [(64, 64), (512, 256), (33, 190), (1, 1)])
def test_pillow_opens_it_at_the_asked_size(size: tuple[int, int]) -> None:
    with Image.open(io.BytesIO(picture("p", 1, *size, 0, "j"))) as image:
        image.load()
        assert (image.format, image.mode, image.size) == ("PNG", "RGB", size)


def test_equal_requests_give_equal_bytes() -> None:
    assert picture("p", 3, 128, 128, 1, "j") == picture("p", 3, 128, 128, 1, "j")


def test_the_job_changes_no_pixel() -> None:
    assert pixels(picture("p", 3, 128, 128, 1, "a")) == pixels(picture("p", 3, 128, 128, 1, "b"))


@pytest.mark.parametrize("other", [("q", 3, 1), ("p", 4, 1), ("p", 3, 2)])
def test_prompt_seed_and_index_change_the_pixels(other: tuple[str, int, int]) -> None:
    prompt, seed, index = other
    first, second = picture("p", 3, 64, 64, 1, ""), picture(prompt, seed, 64, 64, index, "")
    assert pixels(first) != pixels(second)


def test_a_square_of_512_costs_little() -> None:
    began = time.process_time()
    for seed in range(20):
        picture("p", seed, 512, 512, 0, "")
    assert (time.process_time() - began) / 20 < 0.075  # about 0.022 on an idle core


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda png: b"<html>", "signature"),
        (lambda png: png[:-12], "no IEND"),
        (lambda png: png[: len(png) // 2], "truncated"),
        (lambda png: png[:200] + bytes([png[200] ^ 1]) + png[201:], "checksum"),
        (lambda png: b"", "signature"),
    ],
)
def test_a_damaged_file_is_refused(damage, complaint: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=complaint):
        read_marks(damage(picture("p", 1, 64, 64, 0, "j")))


@pytest.mark.parametrize("wanted", ["jpeg", "webp"])
def test_other_formats_are_real_too(wanted: str) -> None:
    content = encoded(picture("p", 1, 64, 48, 0, "j"), wanted)
    with Image.open(io.BytesIO(content)) as image:
        assert (image.format, image.size) == (wanted.upper(), (64, 48))


def test_a_jpeg_keeps_the_job_in_its_comment() -> None:
    assert b'"spillover-job": "j-9"' in encoded(picture("p", 1, 64, 48, 0, "j-9"), "jpeg")
