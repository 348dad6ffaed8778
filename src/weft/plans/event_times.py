"""A time as documents write it in, nanoseconds since 1970 out: ISO 8601 with zone or without, dates, epoch numbers.

A text without a zone counts as UTC, and a date is the moment at which its day begins. A number is seconds since 1970;
one that is too large for that is milliseconds, or microseconds, or nanoseconds: what these mean never overlaps between
1824 and 2116. Eight digits that are a date are one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

from weft.documents.moment import END, SECOND, START
from weft.plans.instants import instant

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_FRACTION = re.compile(r"(.*:\d\d|.*T\d{6})[.,](\d{1,30})(Z|[+-][\d:]+)?", re.ASCII)
_UNITS = (1, 10**3, 10**6, 10**9)  # of a second
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def event_time(text: str) -> int | None:
    """The moment that a text tells, whether or not it can be a document's; None if it is none.

    >>> event_time("1970-01-01T01:00:00.5+01:00"), event_time("19700102"), event_time("86400"), event_time("noon")
    (500000000, 86400000000000, 86400000000000, None)
    """
    text = text.strip(" \t\r\n")
    if (found := instant(text)) is not None:
        return None if found.type == "time" else found.seconds * SECOND + _nanoseconds(found.fraction)
    if _NUMBER.fullmatch(text) and not (len(text) == 8 and _written(text) is not None):
        return _of_number(Decimal(text))
    return _written(text)


def _written(text: str) -> int | None:
    """The other forms of ISO 8601: without signs between the parts, with a blank for T, weeks, zones such as +01."""
    fraction = ""
    if (parts := _FRACTION.fullmatch(text)) is not None:
        text, fraction = parts[1] + (parts[3] or ""), parts[2]
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
        passed = moment - _EPOCH
    except (ValueError, OverflowError):
        return None
    return (passed.days * 86_400 + passed.seconds) * SECOND + passed.microseconds * 1_000 + _nanoseconds(fraction)


def _nanoseconds(fraction: str) -> int:
    """Digits behind a point as nanoseconds; what is finer is cut off."""
    return int(fraction[:9].ljust(9, "0")) if fraction else 0


def _of_number(number: Decimal) -> int:
    """A number in the largest unit in which it can be a document's time."""
    moments = [int(number * SECOND / unit) for unit in _UNITS]
    return next((moment for moment in moments if START < moment < END), moments[0])
