"""Text in, the same as it stands in XML out."""

from __future__ import annotations

from html import escape  # that of xml.sax loads half of urllib

_IN_ATTRIBUTE = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def escape_text(text: str) -> str:
    """Character data that reads as this text."""
    return escape(text, quote=False).replace("\r", "&#13;")


def escape_attribute(text: str) -> str:
    """An attribute value, to stand in double quotes, that reads as this text."""
    escaped = escape(text, quote=False)
    for character, reference in _IN_ATTRIBUTE.items():
        escaped = escaped.replace(character, reference)
    return escaped
