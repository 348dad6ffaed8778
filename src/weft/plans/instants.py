"""Text in, the date, date with time, or time that XML Schema reads it as out, as what can be compared exactly.

A text without a time zone counts as UTC. A date is the instant at which its day begins, and a time the seconds since
midnight in UTC, less than 0 or more than a day where its zone makes it so: as XQuery compares them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

InstantType = Literal["date", "dateTime", "time"]
INSTANT_TYPES: tuple[InstantType, ...] = ("date", "dateTime", "time")

_DAY = 86_400
_WIDEST_ZONE = 14 * 3600
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Years of more digits are no dates here; XML Schema leaves the bound to whoever implements it.
_DATE = r"(?P<year>-?(?:[1-9]\d{4,17}|\d{4}))-(?P<month>\d\d)-(?P<day>\d\d)"
_TIME = r"(?P<hour>\d\d):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?:\.(?P<fraction>\d+))?"
_ZONE = r"(?:Z|(?P<zone>[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00))?"
_INSTANT = re.compile(rf"[ \t\r\n]*(?:{_DATE}(?:T{_TIME})?|{_TIME.replace('?P<', '?P<t_')}){_ZONE}[ \t\r\n]*", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A date, a date with a time, or a time; those of one type are in order."""

    type: InstantType
    seconds: int  # since the beginning of 1970 in UTC; those of a time since midnight
    fraction: str = ""  # of a second: the digits behind the point, without zeros at the end


def instant(text: str) -> Instant | None:
    """The instant that a text is, whatever its type: none is of two types.

    >>> instant("1970-01-02T01:00:00.50+01:00")
    Instant(type='dateTime', seconds=86400, fraction='5')
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    zone = _zone_seconds(found["zone"])
    if found["t_hour"] is not None:
        clock = _clock(found["t_hour"], found["t_minute"], found["t_second"], found["t_fraction"])
        return None if clock is None else Instant("time", clock[0] % _DAY - zone, clock[1])
    year, month, day = int(found["year"]), int(found["month"]), int(found["day"])
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    midnight = _days_before(year, month, day) * _DAY - zone
    if found["hour"] is None:
        return Instant("date", midnight)
    clock = _clock(found["hour"], found["minute"], found["second"], found["fraction"])
    return None if clock is None else Instant("dateTime", midnight + clock[0], clock[1])


def written_instant(value: Instant) -> str:
    """The constant of a query, as XPath and XQuery write it, that is read as this instant.

    >>> written_instant(Instant("date", 0))
    'xs:date("1970-01-01Z")'
    """
    if value.type == "time":
        zone = _WIDEST_ZONE if value.seconds < 0 else -_WIDEST_ZONE if value.seconds >= _DAY else 0
        return f'xs:time("{_written_clock(value.seconds + zone, value.fraction)}{_written_zone(zone)}")'
    if value.type == "dateTime":
        days, clock = divmod(value.seconds, _DAY)
        return f'xs:dateTime("{_written_date(days)}T{_written_clock(clock, value.fraction)}Z")'
    before_noon = value.seconds % _DAY <= _DAY // 2  # a day begins then in a zone to the west, else in one to the east
    zone = (0 if before_noon else _DAY) - value.seconds % _DAY
    return f'xs:date("{_written_date((value.seconds + zone) // _DAY)}{_written_zone(zone)}")'


def _clock(hour: str, minute: str, second: str, fraction: str | None) -> tuple[int, str] | None:
    """The seconds since midnight, and the digits behind the point; 24:00:00 is the end of the day."""
    seconds, digits = int(hour) * 3600 + int(minute) * 60 + int(second), (fraction or "").rstrip("0")
    return None if (seconds, digits) > (_DAY, "") else (seconds, digits)


def _zone_seconds(zone: str | None) -> int:
    if zone is None:
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _MONTHS[month - 1]


def _days_before(year: int, month: int, day: int) -> int:
    """The days from 1970-01-01 on; there is a year 0, and the calendar is the same for all years."""
    year -= month <= 2  # years that begin in March, so that the leap day is the last
    return year * 365 + year // 4 - year // 100 + year // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719_469


def _written_date(days: int) -> str:
    """The date so many days after 1970-01-01."""
    era, day = divmod(days + 719_468, 146_097)  # 400 years, of which the first begins in March
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    year += 400 * era + (month >= 10)
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{(month + 2) % 12 + 1:02d}-{day + 1:02d}"


def _written_clock(seconds: int, fraction: str) -> str:
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction}" if fraction else clock


def _written_zone(zone: int) -> str:
    if zone == 0:
        return "Z"
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 3600:02d}:{abs(zone) // 60 % 60:02d}"
