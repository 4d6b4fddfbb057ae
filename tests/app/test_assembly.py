"""The terms of a whole replica, as its config sets them, on a real store."""

from __future__ import annotations

from router.model.step import OnPrem
from router.store.capacity import Lease
from tests.serving.houses import house, until

SELDOM = {
    "leases__tend_s": 1.2,
    "leases__silent_s": 3.0,
    "leases__lease_s": 1.6,
    "leases__renew_s": 0.5,
    "leases__offer_s": 1.0,
    "leases__probe_s": 5.0,
}
"""A pool that is looked at each 1.2 s."""


async def test_a_pool_that_is_looked_at_seldom_does_not_seem_to_stand_still(redis_url: str) -> None:
    """A lease that nobody renews has to end, however seldom somebody looks."""
    async with house(redis_url, 1, **SELDOM) as home:
        capacity, now = home.parts.holdings._capacity, home.parts.gate.clock.now()
        place = OnPrem("onprem", "krea-2-turbo", now, 0.1, 1.0)
        assert isinstance(await capacity.acquire("dead", "dead.1", place, now + 100), Lease)

        def given_up() -> bool:
            states = {lease.state for lease in home.parts.lookout.pictures["onprem"].leases}
            return home.parts.gate.clock.now() > now + 1.6 and "leased" not in states

        await until(given_up, 12)
