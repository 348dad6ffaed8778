"""Text in, the number that a language reads it as out: XPath 1.0, or XQuery, which casts to xs:double."""

from __future__ import annotations

import re

_DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"[ \t\r\n]*-?{_DIGITS}[ \t\r\n]*", re.ASCII)
_DOUBLE = re.compile(rf"[ \t\r\n]*(?:[+-]?{_DIGITS}|[+-]?INF)[ \t\r\n]*", re.ASCII)
NAN = float("nan")


def number(text: str) -> float:
    """XPath's number(): not-a-number for what is none. Exponents count, as in XPath 2 and libxml2."""
    return float(text) if _NUMBER.fullmatch(text) else NAN


def double(text: str) -> float:
    """XQuery's xs:double(), which has a leading + and infinity too; not-a-number where it would raise an error."""
    return float(text) if _DOUBLE.fullmatch(text) else NAN
