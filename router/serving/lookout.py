"""Looks at the fleet for a replica: heartbeats, pictures, offers, cuts. One loop a pool, one for money."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from router.model.claim import Flag
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
TELL_AGAIN_S = 5.0
"""A store that stays away is told of this often, not at every look."""


@dataclass(frozen=True, slots=True)
class PoolTerms:
    """Timing of one pool's slots, seconds, and how often it is looked at."""

    lease_s: float
    offer_s: float
    silent_s: float
    freeze_s: float
    every_s: float


class Lookout:
    """`snapshot` and `forecasts` are the latest picture."""

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
        pools: Mapping[str, PoolTerms],
    ) -> None:
        self._link = link
        self._clock = clock
        self._capacity = capacity
        self._ledger = ledger
        self._control = control
        self._holdings = holdings
        self._bells = bells
        self._record = record
        self._terms = pools
        self._every_s = min((terms.every_s for terms in pools.values()), default=0.5)
        self._opened: set[str] = set()
        self._nudges = {pool: asyncio.Event() for pool in pools}
        self._closing: dict[str, Mapping[str, ClosingNode]] = {pool: {} for pool in pools}
        self._revisions = dict.fromkeys(pools, -1)
        self._room: dict[str, int] = {}
        self.snapshot = Snapshot(taken_at=0.0)
        self.forecasts: Mapping[str, Forecast] = {pool: Forecast() for pool in pools}
        self.pictures: dict[str, PoolPicture] = {}
        self.books: Mapping[str, DayBook] = {}
        self.flags: Sequence[Flag] = ()
        self.looked_at = clock.monotonic()
        self._failing_since: float | None = clock.monotonic()
        self._told_at = float("-inf")

    @property
    def pools(self) -> tuple[str, ...]:
        """The on-prem pools it looks at."""
        return tuple(self._nudges)

    @property
    def complete(self) -> bool:
        """Has every pool and the money been seen at least once?"""
        return len(self.pictures) == len(self._nudges) and self.snapshot.taken_at > 0

    def silent_for(self) -> float:
        """Seconds since the store failed to answer; 0 while it answers. Our own lag is not its silence."""
        return 0.0 if self._failing_since is None else self._clock.monotonic() - self._failing_since

    def take_room(self, account: str) -> bool:
        """May one more paid attempt be asked for before the next look? Keeps a crowd off one place."""
        if self._room.get(account, 0) <= 0:
            return False
        self._room[account] -= 1
        return True

    def give_room(self, account: str) -> None:
        """A paid attempt of this replica has ended."""
        self._room[account] = self._room.get(account, 0) + 1

    async def watch_once(self, pool: str) -> None:
        """Looks at one pool and at the money now. Raises `StoreDown`."""
        await self._look_at_pool(pool)
        await self._look_at_money()

    async def watch_pool(self, pool: str) -> None:
        """Looks at one pool forever: on every nudge, and at least every `every_s`."""
        while True:
            pause = self._every_s
            try:
                pause = await self._look_at_pool(pool)
            except StoreDown as gone:
                self._opened.discard(pool)
                self._lost(gone)
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
                self._lost(gone)
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

    def _lost(self, gone: StoreDown) -> None:
        now = self._clock.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if now - self._told_at >= TELL_AGAIN_S:
            self._told_at = now
            self._record(StoreLost(str(gone)))

    def _heard(self, pool: str, text: str) -> None:
        replica, _, ticket = text.partition("|")
        if replica == "*":
            self._nudges[pool].set()
        else:
            self._bells.offer(ticket)

    async def _open(self, pool: str) -> None:
        """A store that was away may have come back empty: its timing is written again."""
        if pool not in self._opened:
            terms = self._terms[pool]
            await self._capacity.open_pool(pool, terms.lease_s, terms.offer_s, terms.silent_s, terms.freeze_s)
            self._opened.add(pool)

    async def _look_at_pool(self, pool: str) -> float:
        await self._open(pool)
        tended = await self._capacity.tend(pool, self._revisions[pool])
        for ticket in tended.offered:
            if not self._bells.offer(ticket):  # ours, and given up meanwhile
                await self._capacity.decline(pool, ticket)
        if tended.closing is not None:
            self._closing[pool] = tended.closing
        picture = await take_picture(self._link, self._clock, pool)
        now = self._clock.now()
        self.pictures[pool] = picture
        views = {**self.snapshot.pools, pool: picture.view}
        changed = tended.revision != self._revisions[pool]
        self._revisions[pool] = tended.revision
        self.snapshot = replace(self.snapshot, pools=views, revision=sum(self._revisions.values()))
        self.forecasts = {**self.forecasts, pool: forecast(picture.view, now)}
        self._failing_since, self.looked_at = None, self._clock.monotonic()
        if changed:
            self._bells.ring_all()
        cut = self._holdings.cut_closed(pool, self._closing[pool], now)
        return self._every_s if cut is None else min(self._every_s, max(0.0, cut - now))

    async def _look_at_money(self) -> None:
        views, self.books, open_ = await self._ledger.views()
        self.flags = await self._control.flags()
        models = frozenset(flag.name for flag in self.flags if flag.kind == "model")
        self.snapshot = replace(
            self.snapshot, taken_at=self._clock.now(), accounts=views, overflow_open=open_, models_off=models
        )
        self._room = {name: view.concurrency - view.in_flight for name, view in views.items()}
        self._failing_since, self.looked_at = None, self._clock.monotonic()
