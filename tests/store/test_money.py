"""Money: an intent before anything is sent, never more than the budget, and every attempt settled once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import redis

from router.store import keys
from router.store.clock import StoreClock
from router.store.ledger import Account, Hold, Ledger, NotHeld
from router.store.link import open_link

DAY_S = 86_400.0
NOON = 1_900_000_000 - 1_900_000_000 % DAY_S + DAY_S / 2
FAL = Account("fal", concurrency=3, budget=10_000)


class Wall:
    """A clock that the test turns; the server's own rules expiry."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def clock(self) -> StoreClock:
        return StoreClock(lambda: self.now, lambda: self.now)


@asynccontextmanager
async def ledger(url: str, *accounts: Account, wall: Wall | None = None) -> AsyncIterator[Ledger]:
    async with open_link(url, 10, 10) as link:
        yield Ledger(link, (wall or Wall()).clock(), accounts or (FAL,))


def soon(seconds: float = 60) -> float:
    """The server runs on this machine: its clock is ours."""
    return time.time() + seconds


async def held(
    books: Ledger, attempt: str, price: int = 100, account: str = "fal", expires: float = 0.0
) -> Hold:
    got = await books.hold(account, attempt, price, "ticket", expires or soon())
    assert isinstance(got, Hold), got
    return got


def numbers(client: redis.Redis) -> dict[str, int]:
    """What stands under the money tag besides the day books."""
    return {
        "intents": client.hlen(keys.money("intents")),
        "running": client.zcard(keys.money("running")),
        "expiry": client.zcard(keys.money("expiry")),
    }


async def test_a_hold_becomes_what_was_spent(redis_url: str, client: redis.Redis) -> None:
    async with ledger(redis_url) as books:
        hold = await held(books, "a1", 400)
        views, days, is_open = await books.views()
        assert is_open
        assert (views["fal"].in_flight, views["fal"].committed, views["fal"].budget) == (1, 400, 10_000)
        assert (days["fal"].held, days["fal"].spent, days["fal"].attempts) == (400, 0, 0)
        await books.settle(hold, 250)
        views, days, _ = await books.views()
        assert (views["fal"].in_flight, views["fal"].committed) == (0, 250)
        assert (days["fal"].held, days["fal"].spent, days["fal"].attempts) == (0, 250, 1)
        assert client.ttl(keys.ledger(hold.day)) > 30 * DAY_S


async def test_hold_and_settle_may_be_repeated(redis_url: str) -> None:
    async with ledger(redis_url) as books:
        first = await held(books, "a1", 400)
        assert await held(books, "a1", 400) == first
        assert (await books.views())[0]["fal"].committed == 400
        for _ in range(3):
            await books.settle(first, 300)
        _, days, _ = await books.views()
        assert (days["fal"].held, days["fal"].spent, days["fal"].attempts) == (0, 300, 1)


async def test_a_late_hold_of_a_settled_attempt_is_refused(redis_url: str) -> None:
    async with ledger(redis_url) as books:
        await books.settle(await held(books, "a1"), 100)
        assert await books.hold("fal", "a1", 100, "t", soon()) == NotHeld("ended")
        await books.forget("a2")
        assert await books.hold("fal", "a2", 100, "t", soon()) == NotHeld("ended")
        views, days, _ = await books.views()
        assert (views["fal"].in_flight, days["fal"].held, days["fal"].spent) == (0, 0, 100)


async def test_what_is_free_of_charge_is_held_and_settled_too(redis_url: str) -> None:
    async with ledger(redis_url) as books:
        await books.settle(await held(books, "a1", 0), 0)
        assert (await books.views())[1]["fal"].attempts == 1


async def test_two_hundred_parallel_holds_never_exceed_the_budget(redis_url: str) -> None:
    rich = Account("fal", concurrency=1000, budget=10_000)
    async with AsyncExitStack() as stack:
        books = [await stack.enter_async_context(ledger(redis_url, rich)) for _ in range(3)]
        got = await asyncio.gather(*(books[n % 3].hold("fal", f"a{n}", 137, "t", soon()) for n in range(200)))
        whys = Counter(reply.why if isinstance(reply, NotHeld) else "held" for reply in got)
        assert whys == {"held": 10_000 // 137, "over_budget": 200 - 10_000 // 137}
        await asyncio.gather(*(books[0].settle(hold, 100) for hold in got if isinstance(hold, Hold)))
        _, days, _ = await books[1].views()
        assert (days["fal"].held, days["fal"].spent) == (0, 7200)


async def test_concurrency_is_never_exceeded_and_is_per_account(redis_url: str) -> None:
    async with ledger(redis_url, FAL, Account("fal2", 1, 10_000)) as books:
        got = await asyncio.gather(*(books.hold("fal", f"a{n}", 1, "t", soon()) for n in range(50)))
        assert sum(isinstance(reply, Hold) for reply in got) == 3
        assert {reply.why for reply in got if isinstance(reply, NotHeld)} == {"at_capacity"}
        await held(books, "b1", account="fal2")
        (first, *_) = [reply for reply in got if isinstance(reply, Hold)]
        await books.settle(first, 1)
        await held(books, "a-next")
        views, _, _ = await books.views()
        assert {name: view.in_flight for name, view in views.items()} == {"fal": 3, "fal2": 1}


async def test_the_longer_cooldown_rules_for_an_hour_at_most(redis_url: str) -> None:
    async with ledger(redis_url) as books:
        late, early = soon(60), soon(30)
        await books.cool("fal", late)
        await books.cool("fal", early)
        assert abs((await books.views())[0]["fal"].cooling_until - late) < 0.002
        assert await books.hold("fal", "a1", 1, "t", soon()) == NotHeld("cooling")
    async with ledger(redis_url, Account("other", 1, 10)) as books:
        await books.cool("other", time.time() - 1)
        await held(books, "a1", 1, "other")
        await books.cool("other", soon(DAY_S))
        assert 3_500 < (await books.views())[0]["other"].cooling_until - time.time() < 3_601


async def test_switches(redis_url: str) -> None:
    async with ledger(redis_url) as books:
        await books.switch("fal", True)
        assert await books.hold("fal", "a1", 1, "t", soon()) == NotHeld("account_off")
        assert not (await books.views())[0]["fal"].open
        await books.switch("fal", False)
        await books.switch("overflow", True)
        assert await books.hold("fal", "a1", 1, "t", soon()) == NotHeld("overflow_off")
        assert (await books.views())[2] is False
        await books.switch("overflow", False)
        await held(books, "a1")


async def test_an_intent_that_nobody_settles_counts_as_spent(redis_url: str, client: redis.Redis) -> None:
    async with ledger(redis_url) as books:
        lost = await held(books, "lost", 700, expires=time.time() + 0.1)
        end = time.monotonic() + 0.15
        await asyncio.sleep(end - time.monotonic())
        await books.settle(await held(books, "next", 1), 0)
        _, days, _ = await books.views()
        assert (days["fal"].held, days["fal"].spent, days["fal"].attempts) == (0, 700, 2)
        await books.settle(lost, 0)
        assert (await books.views())[1]["fal"].spent == 700
        assert numbers(client)["running"] == 0


async def test_who_only_looks_ends_what_nobody_settles(redis_url: str, client: redis.Redis) -> None:
    """A dead replica's holds may fill the account; then no hold is asked for, which would end them."""
    wide = Account("fal", concurrency=20, budget=10_000)
    async with ledger(redis_url, wide) as books:
        end = time.time() + 0.4
        for number in range(20):
            await held(books, f"lost{number}", 10, expires=end)
        assert await books.hold("fal", "next", 10, "t", soon()) == NotHeld("at_capacity")
        await asyncio.sleep(end + 0.05 - time.time())
        left = [(await books.views())[0]["fal"].in_flight for _ in range(2)]
        assert left == [4, 0], "16 a look"
        book = (await books.views())[1]["fal"]
        assert (book.held, book.spent, book.attempts) == (0, 200, 20)
        assert numbers(client) == {"intents": 0, "running": 0, "expiry": 0}


async def test_every_hold_has_an_end(redis_url: str, client: redis.Redis) -> None:
    async with ledger(redis_url) as books:
        await held(books, "long", expires=time.time() + 400 * DAY_S)
        (end,) = [score for _, score in client.zrange(keys.money("expiry"), 0, -1, withscores=True)]
        assert end / 1000 < time.time() + 2 * DAY_S
        assert await books.hold("fal", "late", 100, "t", time.time() - 1) == NotHeld("ended")
        assert numbers(client)["intents"] == 1


async def test_each_day_has_its_own_book(redis_url: str, client: redis.Redis) -> None:
    wall = Wall()
    async with ledger(redis_url, wall=wall) as books:
        late = await held(books, "late", 9_000)
        assert await books.hold("fal", "more", 2_000, "t", soon()) == NotHeld("over_budget")
        wall.now += DAY_S
        today = await held(books, "early", 2_000)
        assert late.day != today.day
        await books.settle(late, 8_000)
        _, days, _ = await books.views()
        assert (days["fal"].held, days["fal"].spent) == (2_000, 0)
        yesterday = client.hgetall(keys.ledger(late.day))
        assert (yesterday["fal|held"], yesterday["fal|spent"]) == ("0", "8000")


async def test_a_hold_repeated_after_midnight_is_settled_in_its_own_book(
    redis_url: str, client: redis.Redis
) -> None:
    wall = Wall()
    async with ledger(redis_url, wall=wall) as books:
        first = await held(books, "a1", 500)
        wall.now += DAY_S
        again = await held(books, "a1", 500)
        await books.settle(again, 400)
        assert client.hgetall(keys.ledger(first.day))["fal|spent"] == "400"
        assert numbers(client)["intents"] == 0
        wall.now -= DAY_S
        await held(books, "a2", 500)
        wall.now += DAY_S
        await books.forget("a2")
        assert client.hgetall(keys.ledger(first.day))["fal|held"] == "0"


async def test_lost_intents_of_yesterday_and_of_long_ago(redis_url: str, client: redis.Redis) -> None:
    wall = Wall()
    async with ledger(redis_url, wall=wall) as books:
        old = await held(books, "old", 300)
        wall.now += 2 * DAY_S
        recent = await held(books, "recent", 200)
        wall.now += DAY_S
        client.zadd(keys.money("expiry"), {"old": 1, "recent": 1}, xx=True)  # both are past their time
        today = await held(books, "now", 1)
        assert client.hgetall(keys.ledger(recent.day))["fal|spent"] == "200"
        assert client.hgetall(keys.ledger(recent.day))["fal|held"] == "0"
        assert client.hgetall(keys.ledger(today.day))["fal|spent"] == "300", "counted against today"
        assert client.hgetall(keys.ledger(old.day)) == {"fal|held": "300"}


async def test_nothing_is_left_of_what_is_over(redis_url: str, client: redis.Redis) -> None:
    async with ledger(redis_url) as books:
        for number in range(50):
            await books.settle(await held(books, f"a{number}", 1), 1)
        assert numbers(client) == {"intents": 0, "running": 0, "expiry": 50}
        scores = client.zrange(keys.money("expiry"), 0, -1, withscores=True)
        assert max(score for _, score in scores) <= (time.time() + 61) * 1000
        client.zadd(keys.money("expiry"), {member: 1 for member, _ in scores})
        for number in range(4):
            await books.settle(await held(books, f"b{number}", 1), 1)
        assert numbers(client)["expiry"] == 4
