"""How long a server asks us to stay away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import MAXYEAR, UTC, datetime
from email.utils import parsedate_to_datetime, parsedate_tz

LONGEST_S = 86_400.0
LATEST = datetime.max.replace(tzinfo=UTC)
"""Any moment of a year that no `datetime` can hold."""


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` (OpenAI) or `Retry-After`, clamped to 0 s .. 1 day; `None` where unsaid.

    A date is taken relative to the `Date` of the same reply, so that no clock of ours is involved (RFC 9110
    10.2.3; an origin server with a clock must send `Date`, 6.6.1).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _clamped(milliseconds / 1000)
    value = headers.get("Retry-After")
    seconds = _number(value)
    if seconds is not None:
        return _clamped(seconds)
    until, now = _date(value), _date(headers.get("Date"))
    if until is None or now is None:
        return None
    return _clamped((until - now).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _date(value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        parsed = parsedate_tz(value)
        if parsed is not None and parsed[0] > MAXYEAR and parsed[9] is not None:
            return LATEST
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else None


def _clamped(seconds: float) -> float | None:
    if seconds != seconds:  # NaN
        return None
    return min(max(seconds, 0.0), LONGEST_S)
