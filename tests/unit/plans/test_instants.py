"""Dates, dates with times, and times: which texts are one, in which order they are, and how they are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.plans.instants import Instant, InstantType, instant, written_instant

DAY = 86_400
EQUAL = [
    ("2026-01-01", "2026-01-01Z", " 2026-01-01+00:00\n", "2026-01-01-00:00"),
    ("2026-01-01+14:00", "2025-12-31-10:00"),
    ("0000-02-29", "-0000-02-29"),
    ("2026-01-01T10:00:00", "2026-01-01T10:00:00.000Z", "2026-01-01T11:30:00+01:30", "\t2025-12-31T20:00:00-14:00"),
    ("2026-12-31T24:00:00", "2027-01-01T00:00:00", "2026-12-31T24:00:00.00Z"),
    ("-0001-12-31T24:00:00", "0000-01-01T00:00:00"),
    ("10:00:00", "10:00:00.0Z", "12:00:00+02:00"),
    ("24:00:00", "00:00:00", "00:00:00Z"),
]
IN_ORDER = [
    ("-12345-01-01", "-0004-02-29", "0000-01-01", "2026-01-01+14:00", "2026-01-01", "2026-01-01-14:00", "10000-01-01"),
    ("2026-01-01T00:00:00", "2026-01-01T00:00:00.000000001", "2026-01-01T00:00:00.00000000100000000001"),
    ("2026-01-01T00:00:00.5", "2026-01-01T00:00:00.51", "2026-01-01T00:00:00.6", "2026-01-01T00:00:01"),
    ("00:00:00+14:00", "00:00:00", "23:59:59.9", "23:59:59-14:00"),
    ("08:00:00+09:00", "16:59:00+09:00", "08:00:00", "17:00:00-06:00"),
]
NONE = [
    *("", "x", "2026", "2026-01", "2026-1-1", "20260101", "26-01-01", "+2026-01-01", "02026-01-01", "--01-01", "1e3"),
    *("2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32", "2026-04-31", "2026-02-29", "1900-02-29", "-0001-02-29"),
    *("2026-01-01+14:01", "2026-01-01+15:00", "2026-01-01+1:00", "2026-01-01+0100", "2026-01-01 Z", "2026-01-01z"),
    *("2026-01-01T", "2026-01-01T10:00", "2026-01-01 10:00:00", "2026-01-01t10:00:00", "2026-01-01T10:00:60"),
    *("2026-01-01T24:00:01", "2026-01-01T24:00:00.01", "2026-01-01T25:00:00", "2026-01-01T10:60:00", "10:00:00."),
    *("10:00", "1:00:00", "10:00:00,5", "24:01:00", "2026-01-01\u00a0", "٢٠٢٦-01-01", "2026-01-01 2026-01-01"),
    "9" * 19 + "-01-01",
]


@pytest.mark.parametrize("texts", EQUAL)
def test_texts_for_the_same_instant_are_equal(texts: tuple[str, ...]) -> None:
    found = {instant(text) for text in texts}

    assert len(found) == 1
    assert None not in found


@pytest.mark.parametrize("texts", IN_ORDER)
def test_instants_of_one_type_are_in_order(texts: tuple[str, ...]) -> None:
    found = [found for text in texts if (found := instant(text)) is not None]

    assert len(found) == len(texts)
    assert all(one < other for one, other in pairwise(found))


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_date_is_none(text: str) -> None:
    assert instant(text) is None


@given(st.datetimes(), st.integers(-839, 839))
def test_instants_are_those_of_datetime(naive: datetime, minutes: int) -> None:
    aware = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    microseconds = (naive - datetime(1970, 1, 1)) // timedelta(microseconds=1) - minutes * 60_000_000

    found = instant(aware.isoformat())

    assert found == Instant("dateTime", microseconds // 10**6, f"{microseconds % 10**6:06d}".rstrip("0"))


@given(st.dates())
def test_dates_are_those_of_datetime(day: date) -> None:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)

    assert instant(day.isoformat()) == Instant("date", int(midnight.timestamp()))


@st.composite
def instants(draw: st.DrawFn) -> Instant:
    """Instants of all types that some text is."""
    kind: InstantType = draw(st.sampled_from(("date", "dateTime", "time")))
    zone = draw(st.integers(-840, 840)) * 60
    fraction = draw(st.sampled_from(("", "", "5", "000000001", "123456789123")))
    match kind:
        case "date":
            return Instant(kind, draw(st.integers(-(10**9), 10**9)) * DAY + zone)
        case "dateTime":
            return Instant(kind, draw(st.integers(-(10**14), 10**14)), fraction)
        case _:
            return Instant(kind, draw(st.integers(0, DAY - 1)) + zone, fraction)


@given(instants())
def test_an_instant_is_written_as_a_constant_that_is_read_as_the_same(value: Instant) -> None:
    function, text, _ = written_instant(value).split('"')

    assert function == f"xs:{value.type}("
    assert instant(text) == value
