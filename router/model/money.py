"""Money is integer micro-USD everywhere, in Lua too (a double holds 2^53 of them: nine billion dollars)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from providers.contract import Generation

MICRO = 1_000_000


def micro_usd(dollars: Decimal) -> int:
    """Dollars as micro-USD, rounded up: a hold is never too small."""
    return int((dollars * MICRO).to_integral_value(rounding=ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Price:
    """What one provider asks for one model since `valid_from` (seconds since the epoch)."""

    per_image: int
    per_megapixel: int
    valid_from: float

    def of(self, generation: Generation) -> int:
        """The dearest this generation can be, in micro-USD; megapixels are billed by the started pixel."""
        pixels = generation.width * generation.height
        by_size = -(-self.per_megapixel * pixels // MICRO)
        return (self.per_image + by_size) * generation.count


def price_at(prices: tuple[Price, ...], now: float) -> Price | None:
    """The price in force at `now`, or `None` where it is unknown (and the offer so not eligible)."""
    known = [price for price in prices if price.valid_from <= now]
    return max(known, key=lambda price: price.valid_from, default=None)
