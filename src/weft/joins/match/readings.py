"""Texts in, what they are as numbers and as instants out."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache

from weft.plans.numbers import number

_LONG = 100  # characters of a text that is not remembered


def reading(text: str) -> tuple[float | None, float | None]:
    """A text as a number, as XPath reads it, and as an ISO date or date-time in seconds; None where it is none.

    >>> reading(" 1.5 ")
    (1.5, None)
    >>> reading("1970-01-02")
    (None, 86400.0)
    """
    return _reading(text) if len(text) > _LONG else _remembered(text)


def _reading(text: str) -> tuple[float | None, float | None]:
    if not math.isnan(value := number(text)):
        return (value if math.isfinite(value) else None), None
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        return None, None
    return None, (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()


_remembered = lru_cache(maxsize=100_000)(_reading)
