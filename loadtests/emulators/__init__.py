"""Emulators of workers and providers: a second reading of each dialect, independent of the product's.

Tests and the demo start them in their own event loop (`sglang_workers`, `fal_queue`); `python -m
loadtests.emulators` starts them as a process. The official SDK of each dialect runs against its emulator to
prove the reading.
"""

from loadtests.emulators.fal_orders import App
from loadtests.emulators.fal_service import Fal, fal_queue
from loadtests.emulators.fleet import Fleet, sglang_workers
from loadtests.emulators.ledger import Ledger, Row
from loadtests.emulators.pictures import picture, prompt_mark, read_marks
from loadtests.emulators.serving import Host, serve
from loadtests.emulators.speed import Speed
from loadtests.emulators.worker import Worker

__all__ = [
    "App",
    "Fal",
    "Fleet",
    "Host",
    "Ledger",
    "Row",
    "Speed",
    "Worker",
    "fal_queue",
    "picture",
    "prompt_mark",
    "read_marks",
    "serve",
    "sglang_workers",
]
