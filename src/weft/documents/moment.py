"""Times as people give them in, integer nanoseconds out; and back.

Seconds as floats are off by some hundred nanoseconds at today's dates, so that a window of 100 milliseconds would miss
half of what lies exactly 100 milliseconds apart. So a float is taken to the microsecond; whole numbers, Decimals and
datetimes are exact.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from weft.errors import ConfigurationError

#: Seconds since 1970, or a date and time, which without a zone is UTC.
Moment = int | float | Decimal | datetime
#: Seconds, or their equivalent.
Span = int | float | Decimal | timedelta
SECOND = 1_000_000_000
#: Before and behind all moments; what a document may be dated lies between them.
START, END = -(2**62), 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FARTHEST = 300  # digits of seconds that are looked at: beyond it there are no microseconds


def nanoseconds(given: Moment, name: str = "timestamp") -> int:
    """A moment in nanoseconds since 1970; raises ConfigurationError for what is none.

    >>> nanoseconds(1.5), nanoseconds(datetime(1970, 1, 2))
    (1500000000, 86400000000000)
    """
    if isinstance(given, datetime):
        whole = given if given.utcoffset() is not None else given.replace(tzinfo=UTC)
        found: int | None = (whole - _EPOCH) // _MICROSECOND * 1000
    else:
        found = _scaled(given)
    if found is None:
        raise ConfigurationError(f"{name}: expected a number of seconds or a datetime, found {_shown(given)}")
    if not START < found < END:
        raise ConfigurationError(f"{name}: expected a time between 1824 and 2116, found {_shown(given)}")
    return found


def span(given: Span, name: str) -> int:
    """A length of time in nanoseconds, at least 0; raises ConfigurationError for what is none."""
    found = given // _MICROSECOND * 1000 if isinstance(given, timedelta) else _scaled(given)
    if found is None or not 0 <= found < END:
        expected = "a number of seconds, at least 0, or a timedelta"
        raise ConfigurationError(f"{name}: expected {expected}, found {_shown(given)}")
    return found


def seconds(moment: int) -> float:
    """Nanoseconds as seconds."""
    return moment / SECOND


def exact_seconds(moment: int) -> Decimal:
    """Nanoseconds as seconds, exactly: what `nanoseconds` makes the same moment of."""
    return Decimal(moment).scaleb(-9)


def _scaled(given: object) -> int | None:
    if isinstance(given, bool) or not isinstance(given, int | float | Decimal):
        return None
    if isinstance(given, int):
        return given * SECOND
    if isinstance(given, float):
        return round(given * 1e6) * 1000 if abs(given) < 10.0**_FARTHEST else None  # which also nan is not
    return int(given * SECOND) if given.is_finite() and given.adjusted() < _FARTHEST else None


def _shown(given: object) -> str:
    """What was found instead; a number of thousands of digits has no text."""
    try:
        return repr(given)[:60]
    except ValueError:
        return "a number of too many digits"
