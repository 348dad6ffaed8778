"""Text in, the number that XPath reads it as out."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[ \t\r\n]*-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[ \t\r\n]*", re.ASCII)
NAN = float("nan")


def number(text: str) -> float:
    """XPath's number(): not-a-number for what is none. Exponents count, as in XPath 2 and libxml2."""
    return float(text) if _NUMBER.fullmatch(text) else NAN
