"""Any text in, a name out that a file can have: no two texts have one name."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote

_LONGEST = 180  # bytes of a quoted name; batch, key and number fit beside it in the 255 of a file name


@lru_cache(1 << 16)  # also: equal names are one object, so what a task returns stays small
def quoted(name: str) -> str:
    """One file name for any text, and no two alike: `a/b` becomes `a%2Fb`, `..` becomes `%2E.`; a long one is cut."""
    text = quote(name, safe="") or "%"
    if text[0] in "._":  # hidden files, folders above, and our own records
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) <= _LONGEST:
        return text
    return f"{re.sub('%.?$', '', text[:_LONGEST])}+{digest(name)}"  # no name that is not cut has a "+"


def digest(*values: object) -> str:
    """Sixteen hexadecimal digits for some values."""
    return blake2b(repr(values).encode(), digest_size=8).hexdigest()  # repr keeps values apart, and 1 from "1"
