"""Money is whole micro-dollars, rounded against us."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.contract import Generation
from router.model.money import MICRO, Price, micro_usd, price_at

dollars = st.integers(0, 10**6)
sides = st.integers(1, 4096)


def image(width: int = 1000, height: int = 1000, count: int = 1) -> Generation:
    return Generation("krea", "", width, height, 8, count=count)


@pytest.mark.parametrize(
    ("dollars", "micro"), [("0", 0), ("0.03", 30_000), ("1", MICRO), ("0.0000001", 1), ("0.0000019", 2)]
)
def test_dollars_are_rounded_up(dollars: str, micro: int) -> None:
    assert micro_usd(Decimal(dollars)) == micro


@pytest.mark.parametrize(
    ("price", "asked", "micro"),
    [
        (Price(30_000, 0, 0.0), image(count=4), 120_000),
        (Price(0, 10_000, 0.0), image(), 10_000),
        (Price(0, 10_000, 0.0), image(1024, 1024, 2), 20_972),
        (Price(5, 1, 0.0), image(1, 1), 6),
        (Price(5, 0, 0.0), image(1, 1), 5),
    ],
)
def test_the_dearest_it_can_be(price: Price, asked: Generation, micro: int) -> None:
    assert price.of(asked) == micro


@given(dollars, dollars, sides, sides, st.integers(1, 10))
def test_more_never_costs_less(per_image: int, per_mp: int, width: int, height: int, count: int) -> None:
    price = Price(per_image, per_mp, 0.0)
    base = price.of(image(width, height, count))
    assert isinstance(base, int)
    assert base <= price.of(image(width + 1, height, count)) <= price.of(image(width + 1, height, count + 1))
    assert base >= count * (per_image + per_mp * width * height / MICRO) - 1e-6 * base


@pytest.mark.parametrize(
    ("now", "per_image"), [(0.0, None), (10.0, 1), (19.9, 1), (20.0, 2), (30.0, 3), (99.0, 3)]
)
def test_the_price_in_force_is_the_latest_that_has_begun(now: float, per_image: int | None) -> None:
    prices = (Price(3, 0, 30.0), Price(1, 0, 10.0), Price(2, 0, 20.0))
    found = price_at(prices, now)
    assert (found.per_image if found else None) == per_image
    assert price_at((), now) is None
