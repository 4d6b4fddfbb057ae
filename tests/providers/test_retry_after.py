"""`Retry-After` in each of its forms, and in those that are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.retry_after import retry_after_s

DATE = {"Date": "Mon, 30 Nov 2026 12:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "-5"}, 0.0),
        ({"Retry-After": "999999999"}, 86_400.0),
        ({"Retry-After": "inf"}, 86_400.0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT", **DATE}, 30.0),
        ({"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT", **DATE}, 0.0),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT"}, None),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT", "Date": "yesterday"}, None),
        ({"Retry-After": "Mon, 99 Nov 2026 12:00:30 GMT", **DATE}, None),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 -0000", **DATE}, None),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 -2300", **DATE}, 86_400.0),
        ({"Retry-After": "Sat, 01 Jan 10000 00:00:00 GMT", **DATE}, 86_400.0),
        ({"Retry-After": "Mon, 01 Jan 99999999999 00:00:00 GMT", **DATE}, 86_400.0),
        ({"Retry-After": "Mon, 01 Jan 99999999999 00:00:00 GMT"}, None),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 +99999999999999999999", **DATE}, None),
    ],
)
def test_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


dates = st.builds(
    "{}, {} Nov {} {}:{}:00 {}".format,
    *(st.sampled_from(["Mon", "x"]), st.integers(), st.integers(), st.integers(), st.integers()),
    st.one_of(st.sampled_from(["GMT", "-0000", "EST", ""]), st.integers().map("{:+d}".format)),
)


@settings(deadline=None)  # the machine may be busy
@given(st.one_of(st.text(), dates), st.one_of(st.text(), dates))
def test_nonsense_is_no_answer_or_a_bounded_one(value: str, date: str) -> None:
    seconds = retry_after_s({"Retry-After": value, "Date": date})
    assert seconds is None or 0 <= seconds <= 86_400
