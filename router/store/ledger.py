"""Money: a hold of the worst price before anything is sent, settled when it is known what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from router.model.fleet import AccountView
from router.store import keys
from router.store.clock import StoreClock
from router.store.link import Link


@dataclass(frozen=True, slots=True)
class Account:
    """The limits of one provider account, micro-USD a UTC day."""

    name: str
    concurrency: int
    budget: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Money that is kept for one attempt. `day` is the ledger it stands in."""

    attempt: str
    account: str
    price: int
    day: str


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The hold was refused: `cooling`, `at_capacity`, `over_budget`, `account_off`, `overflow_off`
    or `ended` (the attempt is over, or its time is: this was a late call)."""

    why: str


@dataclass(frozen=True, slots=True)
class DayBook:
    """What one account did today, micro-USD."""

    held: int
    spent: int
    attempts: int


class Ledger:
    """The accounts of all external pools."""

    def __init__(self, link: Link, clock: StoreClock, accounts: Sequence[Account]) -> None:
        self._link = link
        self._clock = clock
        self._accounts = {account.name: account for account in accounts}

    async def hold(
        self, account: str, attempt: str, price: int, ticket: str, expires: float
    ) -> Hold | NotHeld:
        """Stores the intent and holds its price, atomically. A hold past `expires` counts as spent."""
        terms = self._accounts[account]
        day, before = self._days()
        reply = await self._link.call(
            "hold",
            [*_names(), keys.ledger(day), keys.ledger(before)],
            account,
            attempt,
            price,
            terms.budget,
            terms.concurrency,
            day,
            int(expires * 1000),
            ticket,
        )
        return Hold(attempt, account, price, day) if reply == "held" else NotHeld(str(reply))

    async def settle(self, hold: Hold, spent: int) -> None:
        """The hold becomes what was spent (micro-USD, 0 for nothing)."""
        await self._settle(hold.attempt, spent, hold.day)

    async def forget(self, attempt: str) -> None:
        """Drops a hold whose answer was never seen: nothing was sent, so nothing was spent."""
        await self._settle(attempt, 0, self._days()[0])

    async def cool(self, account: str, until: float) -> None:
        """Keeps every replica off an account until a moment of store time, an hour from now at the latest."""
        await self._link.call("cool", [keys.money("accounts")], account, int(until * 1000))

    async def switch(self, name: str, off: bool) -> None:
        """An operator's flag on an account (its name) or on all overflow (`overflow`)."""
        await self._link.command("HSET", keys.money("accounts"), f"{name}|off", int(off))

    async def views(self) -> tuple[dict[str, AccountView], dict[str, DayBook], bool]:
        """Every account now, its day book, and whether overflow is open. Ends holds past their `expires`."""
        names = list(self._accounts)
        today, before = self._days()
        reply = await self._link.call(
            "accounts", [*_names(), keys.ledger(today), keys.ledger(before)], *names
        )
        views, books = {}, {}
        for index, name in enumerate(names):
            running, off, cooling, held, spent, attempts = (
                int(x) for x in reply[2 + index * 6 : 8 + index * 6]
            )
            terms = self._accounts[name]
            views[name] = AccountView(
                name, off != 1, running, terms.concurrency, held + spent, terms.budget, cooling / 1000
            )
            books[name] = DayBook(held, spent, attempts)
        return views, books, int(reply[1]) != 1

    async def _settle(self, attempt: str, spent: int, day: str) -> None:
        names = _names()
        reply = await self._link.call("settle", [*names, keys.ledger(day)], attempt, spent, day)
        if reply not in ("settled", "unknown"):  # it was held on another day, and that ledger is asked for
            await self._link.call("settle", [*names, keys.ledger(str(reply))], attempt, spent, reply)

    def _days(self) -> tuple[str, str]:
        today = datetime.fromtimestamp(self._clock.now(), UTC).date()
        return today.isoformat(), (today - timedelta(days=1)).isoformat()


def _names() -> list[str]:
    return [keys.money(part) for part in ("intents", "running", "expiry", "accounts")]
