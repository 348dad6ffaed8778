"""Times as documents write them: Python's datetime is the oracle."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payment_files import written_times
from weft.plans.event_times import event_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_MOMENTS = st.datetimes(datetime(1830, 1, 1), datetime(2110, 1, 1), timezones=_ZONES)


def nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


@given(_MOMENTS)
def test_iso_8601_with_a_zone_is_the_moment_that_datetime_reads(moment: datetime) -> None:
    assert event_time(moment.isoformat()) == nanoseconds(moment)
    assert event_time(f"\n  {moment.isoformat(sep=' ')} ") == nanoseconds(moment)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_all_forms_of_a_moment_are_the_same(moment: datetime) -> None:
    assert {event_time(text) for text in written_times(moment)} == {nanoseconds(moment)}


@given(st.dates(date(1830, 1, 1), date(2110, 1, 1)))
def test_a_date_is_when_its_day_begins(day: date) -> None:
    midnight = nanoseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))

    assert event_time(day.isoformat()) == midnight
    assert event_time(day.strftime("%Y%m%d")) == midnight
    assert event_time(day.isoformat() + "+01:00") == midnight - 3_600 * 10**9


@given(st.datetimes(datetime(1971, 1, 1), datetime(2110, 1, 1), timezones=st.just(UTC)))
def test_an_epoch_number_has_the_unit_in_which_it_is_a_time(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    seconds = (whole - _EPOCH) // timedelta(seconds=1)

    texts = [str(seconds), f"{seconds}.0", f"{seconds}000", f"{seconds}000000", f"{seconds}000000000", f"{seconds}e0"]
    texts = [text for text in texts if len(text) != 8]

    assert {event_time(text) for text in texts} == {nanoseconds(whole)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01T00:00:00.123456789Z", 1_767_225_600_123_456_789),
        ("2026-01-01T00:00:00.1234567891Z", 1_767_225_600_123_456_789),
        ("2026-01-01T01:00:00,5+0100", 1_767_225_600_500_000_000),
        ("2026-W01-4", 1_767_225_600_000_000_000),
        ("2025-12-31T24:00:00Z", 1_767_225_600_000_000_000),
        ("0", 0),
        ("-1.5", -1_500_000_000),
        ("12:00:00", None),
        ("2026-13-01", None),
        ("2026-02-30T00:00:00Z", None),
        ("", None),
        ("soon", None),
        ("1e", None),
        ("٣", None),
    ],
)
def test_a_text_is_a_moment_or_none(text: str, expected: int | None) -> None:
    assert event_time(text) == expected
