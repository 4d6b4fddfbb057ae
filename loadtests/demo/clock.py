"""The wall clock of this machine: the client's record, the ledgers and the embedded store all go by it."""

import time


def wall() -> float:
    """Seconds since the epoch."""
    return time.time()  # noqa: TID251 - rows of several processes of one machine are put side by side
