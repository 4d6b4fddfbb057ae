"""What became of a ticket."""

from __future__ import annotations

from dataclasses import dataclass

from providers.contract import Image


@dataclass(frozen=True, slots=True)
class Answer:
    """Images, or the code of a refusal in `reason` (`done` when all images are there; with some of them, the
    reason why `missing` ones are not).

    `route`: `onprem` or `external`, of the last attempt. `why`: the reason of that placement (`onprem`, or
    why it spilled). `paid`: money was committed, so a client's blind retry could cost twice. `spent` is
    micro-USD. `queued_s` and `ran_s` add up over all attempts.
    """

    reason: str
    images: tuple[Image, ...] = ()
    route: str = ""
    pool: str = ""
    why: str = ""
    attempts: int = 0
    paid: bool = False
    spent: int = 0
    seed: int | None = None
    queued_s: float = 0.0
    ran_s: float = 0.0
    retry_after_s: float | None = None
    retryable: bool = True
    missing: int = 0

    @property
    def done(self) -> bool:
        """All images are there."""
        return self.reason == "done"
