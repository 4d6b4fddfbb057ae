"""The pictures that came: written to disk and reduced to thumbnails in a thread, as they come."""

import io
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from loadtests.demo.receipt import Receipt
from loadtests.demo.script import Order

REDUCED = 4


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One picture on the wall: 128 pixels wide, its file on disk, and where it came from."""

    order: Order
    receipt: Receipt
    thumbnail: Image.Image
    file: str


class Gallery:
    """Pictures by the number of their order. `finish` before reading."""

    def __init__(self, out: Path) -> None:
        self._folder = out / "images"
        self._worker = ThreadPoolExecutor(1, "gallery")
        self._hanging: list[Future[Exhibit]] = []

    def hang(self, order: Order, receipt: Receipt, picture: bytes) -> None:
        """Take one more picture; returns at once."""
        self._hanging.append(self._worker.submit(self._hung, order, receipt, picture))

    def finish(self) -> list[Exhibit]:
        """Wait for what is being written; the exhibits in the order of their orders."""
        self._worker.shutdown()
        return sorted((hanging.result() for hanging in self._hanging), key=lambda one: one.order.number)

    def _hung(self, order: Order, receipt: Receipt, picture: bytes) -> Exhibit:
        name = f"{order.number:04}-{receipt.route}.png"
        (self._folder / name).write_bytes(picture)
        with Image.open(io.BytesIO(picture)) as whole:
            thumbnail = whole.convert("RGB").reduce(REDUCED)
        return Exhibit(order, receipt, thumbnail, name)
