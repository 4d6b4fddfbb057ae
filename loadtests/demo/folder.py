"""The folder that a run leaves behind. What an earlier run left there is removed, and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

OURS = ("images/[0-9]*-*.png", "logs/*.log", "logs/*.jsonl", "contact-sheet.png", "report.html")
LOCK = "logs/.running"


class FolderTaken(Exception):
    """Another demo writes there, or nobody may."""


@contextmanager
def prepared(out: Path) -> Iterator[None]:
    """Makes it and its subfolders, for one run at a time: two would read each other's ledgers."""
    try:
        for folder in ("images", "logs"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        lock = (out / LOCK).open("w")
    except OSError as error:
        raise FolderTaken(
            f"cannot write to {out}: {error.strerror}; name another folder with --out"
        ) from error
    with lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise FolderTaken(f"another demo writes to {out}; name another folder with --out") from None
        for pattern in OURS:
            for old in out.glob(pattern):
                old.unlink()
        yield
