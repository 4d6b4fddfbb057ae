"""The kinds of values a configuration is made of: names, sizes, durations, money, addresses, blocks.

Durations end in `_s` (seconds), money in `_usd` (decimal dollars), sizes are pixels.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
Size = Annotated[str, Field(pattern=r"^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$")]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Period = Annotated[float, Field(gt=0, le=86_400)]
Dollars = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=6)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s?#@]+$")]


class Strict(BaseModel):
    """A frozen block without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
