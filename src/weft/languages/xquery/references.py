"""A reference in a constructor or a string in, the character that it stands for out."""

from __future__ import annotations

import re
from html import unescape

from weft.languages.reader import Reader

_REFERENCE = re.compile(r"&(?:lt|gt|amp|quot|apos|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));")
_NO_CHARACTER = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_reference(reader: Reader, at: int) -> tuple[str, int]:
    """The character that the reference at a place stands for, and where it ends."""
    found = _REFERENCE.match(reader.query, at)
    if found is None:
        reader.fail("expected a character reference or one of &lt; &gt; &amp; &quot; &apos;", at)
    code = found[1] or found[2]
    character = chr(int(code, 16 if found[2] else 10)) if code and len(code) < 8 else unescape(found[0])
    if _NO_CHARACTER.search(character):
        reader.fail("expected a reference to a character of XML", at)
    return character, found.end()


def read_string(reader: Reader) -> str:
    """The string literal that is next; references in it are read."""
    start, raw = reader.at, reader.advance()
    text, at = [], 1
    while at < len(raw) - 1:
        if raw[at] == "&":
            character, end = read_reference(reader, start + at)
            text.append(character)
            at = end - start
        else:
            text.append(raw[at])
            at += 2 if raw[at] == raw[0] else 1  # a quote is doubled
    return "".join(text)
