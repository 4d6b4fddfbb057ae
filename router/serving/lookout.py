"""Looks at the fleet for a whole replica: heartbeats, pictures, offers, cuts. One loop a pool and one for money."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from router.model.fleet import Snapshot
from router.policy.forecast import Forecast, forecast
from router.serving.bells import Bells
from router.serving.holdings import Holdings
from router.store import keys
from router.store.capacity import Capacity, ClosingNode
from router.store.clock import StoreClock
from router.store.control import Control
from router.store.ledger import DayBook, Ledger
from router.store.link import Link, StoreDown
from router.store.picture import PoolPicture, take_picture
from router.telemetry.events import Record, StoreLost

SOONEST_S = 0.1
"""However often the fleet changes, it is looked at no more often than this."""


class Lookout:
    """`snapshot` and `forecasts` are the latest picture. `heard_at`: the local moment the store last answered."""

    def __init__(
        self,
        link: Link,
        clock: StoreClock,
        capacity: Capacity,
        ledger: Ledger,
        control: Control,
        holdings: Holdings,
        bells: Bells,
        record: Record,
        pools: Sequence[str],
        every_s: float,
    ) -> None:
        self._link = link
        self._clock = clock
        self._capacity = capacity
        self._ledger = ledger
        self._control = control
        self._holdings = holdings
        self._bells = bells
        self._record = record
        self._every_s = every_s
        self._nudges = {pool: asyncio.Event() for pool in pools}
        self._closing: dict[str, Mapping[str, ClosingNode]] = {pool: {} for pool in pools}
        self._revisions = dict.fromkeys(pools, -1)
        self._room: dict[str, int] = {}
        self.snapshot = Snapshot(taken_at=0.0)
        self.forecasts: Mapping[str, Forecast] = {pool: Forecast() for pool in pools}
        self.pictures: dict[str, PoolPicture] = {}
        self.books: Mapping[str, DayBook] = {}
        self.heard_at: float | None = None

    @property
    def pools(self) -> tuple[str, ...]:
        """The on-prem pools it looks at."""
        return tuple(self._nudges)

    @property
    def complete(self) -> bool:
        """Has every pool and the money been seen at least once?"""
        return len(self.pictures) == len(self._nudges) and self.snapshot.taken_at > 0

    def silent_for(self) -> float:
        """Seconds since the store last answered."""
        return self._clock.monotonic() - self.heard_at if self.heard_at is not None else float("inf")

    def take_room(self, account: str) -> bool:
        """May one more paid attempt be asked for before the next look? Keeps a crowd from asking for one place."""
        if self._room.get(account, 0) <= 0:
            return False
        self._room[account] -= 1
        return True

    def give_room(self, account: str) -> None:
        """A paid attempt of this replica has ended."""
        self._room[account] = self._room.get(account, 0) + 1

    async def look_once(self) -> None:
        """One full look; raises `StoreDown`. Used before a replica says it is ready."""
        for pool in self._nudges:
            await self._look_at_pool(pool)
        await self._look_at_money()

    async def watch_pool(self, pool: str) -> None:
        """Looks at one pool forever: on every nudge, and at least every `every_s`."""
        while True:
            pause = self._every_s
            try:
                pause = await self._look_at_pool(pool)
            except StoreDown as gone:
                self._record(StoreLost(str(gone)))
            nudge = self._nudges[pool]
            await asyncio.sleep(SOONEST_S)
            try:
                async with asyncio.timeout(max(0.0, pause - SOONEST_S)):
                    await nudge.wait()
            except TimeoutError:
                pass
            nudge.clear()

    async def watch_money(self) -> None:
        """Looks at the accounts and the flags forever."""
        while True:
            try:
                await self._look_at_money()
            except StoreDown as gone:
                self._record(StoreLost(str(gone)))
            await asyncio.sleep(self._every_s / 2)

    async def listen(self) -> None:
        """Hears of offers and changes at once. A hint only: what is missed is seen at the next look."""
        channels = {keys.wake_channel(pool): pool for pool in self._nudges}
        while True:
            try:
                async with self._link.subscribed(*channels) as messages:
                    async for channel, text in messages:
                        self._heard(channels[channel], text)
            except StoreDown:
                await asyncio.sleep(self._every_s)

    def _heard(self, pool: str, text: str) -> None:
        replica, _, ticket = text.partition("|")
        if replica == "*":
            self._nudges[pool].set()
        else:
            self._bells.offer(ticket)

    async def _look_at_pool(self, pool: str) -> float:
        tended = await self._capacity.tend(pool, self._revisions[pool])
        for ticket in tended.offered:
            self._bells.offer(ticket)
        if tended.closing is not None:
            self._closing[pool] = tended.closing
        picture = await take_picture(self._link, self._clock, pool)
        now = self._clock.now()
        self.pictures[pool] = picture
        views = {**self.snapshot.pools, pool: picture.view}
        self.snapshot = replace(self.snapshot, pools=views, revision=sum(self._revisions.values()))
        self.forecasts = {**self.forecasts, pool: forecast(picture.view, now)}
        self.heard_at = self._clock.monotonic()
        if tended.revision != self._revisions[pool]:
            self._revisions[pool] = tended.revision
            self._bells.ring_all()
        cut = self._holdings.cut_closed(pool, self._closing[pool], now)
        return self._every_s if cut is None else min(self._every_s, max(0.0, cut - now))

    async def _look_at_money(self) -> None:
        views, self.books, open_ = await self._ledger.views()
        flags = await self._control.flags()
        models = frozenset(flag.name for flag in flags if flag.kind == "model")
        self.snapshot = replace(
            self.snapshot, taken_at=self._clock.now(), accounts=views, overflow_open=open_, models_off=models
        )
        self._room = {name: view.concurrency - view.in_flight for name, view in views.items()}
        self.heard_at = self._clock.monotonic()
