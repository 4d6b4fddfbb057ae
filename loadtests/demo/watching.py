"""What is known while the scene plays: answers and ledgers so far, and the router's own view of itself."""

import asyncio
import contextlib
from collections.abc import Sequence

import aiohttp

from loadtests.demo.clock import wall
from loadtests.demo.figures import Sample, made_external, made_onprem
from loadtests.demo.gallery import Gallery
from loadtests.demo.ledgers import Follower
from loadtests.demo.operators import Operators, Refused, sample_of
from loadtests.demo.receipt import Receipt
from loadtests.demo.script import Order, Script
from loadtests.demo.stage import Stage

EVERY_S = 0.4
RATE_OVER_S = 3.0


class Watching:
    """Grows while the scene plays; the live table and the account both read it."""

    def __init__(self, stage: Stage, script: Script, gallery: Gallery) -> None:
        self.stage = stage
        self.script = script
        self.gallery = gallery
        self.workers = Follower(stage.back_ends.worker_ledger)
        self.provider = Follower(stage.back_ends.provider_ledger)
        self.receipts: list[Receipt] = []
        self.samples: list[Sample] = []
        self.began = wall()
        self.act = "starting"

    def deliver(self, order: Order, receipt: Receipt, picture: bytes | None) -> None:
        """One more answer; the picture goes to the gallery."""
        self.receipts.append(receipt)
        if picture is not None:
            self.gallery.hang(order, receipt, picture)

    async def look_forever(self, session: aiohttp.ClientSession) -> None:
        """Takes a sample of the router's view every so often; a replica that is busy is asked again later."""
        operators = Operators(session, self.stage.replicas[0])
        while True:
            with contextlib.suppress(Refused, aiohttp.ClientError, TimeoutError):
                self.samples.append(sample_of(await operators.state(), wall()))
            self.catch_up()
            await asyncio.sleep(EVERY_S)

    def catch_up(self) -> None:
        """Read what the emulators wrote since the last time."""
        self.workers.catch_up()
        self.provider.catch_up()

    @property
    def onprem(self) -> list[float]:
        """The moments at which workers delivered images."""
        return [row["wall"] for row in made_onprem(self.workers.rows)]

    @property
    def external(self) -> list[float]:
        """The moments at which the provider billed images."""
        return [row["wall"] for row in made_external(self.provider.rows)]

    def running_on(self, nodes: Sequence[str], after_s: float) -> int:
        """Long generations on these nodes that began at most `after_s` ago and have not ended."""
        since = wall() - after_s
        ended = {row["generation"] for row in self.workers.rows if row["kind"] in ("finished", "failed")}
        steps = {row["generation"]: row["steps"] for row in self.workers.rows if row["kind"] == "received"}
        longest = max((order.steps for order in self.script.orders), default=0)
        return sum(
            row["kind"] == "started"
            and row["wall"] >= since
            and row["generation"] not in ended
            and self.stage.deployment.node_of.get(row["worker"]) in nodes
            and steps.get(row["generation"]) == longest
            for row in self.workers.rows
        )


def rate_of(moments: Sequence[float], now: float) -> float:
    """How many a second lately."""
    return sum(moment > now - RATE_OVER_S for moment in moments) / RATE_OVER_S
