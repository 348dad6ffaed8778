"""Text in, the same as it stands in XML out."""

from __future__ import annotations

from xml.sax.saxutils import escape

_IN_TEXT = {"\r": "&#13;"}


_IN_ATTRIBUTE = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def escape_text(text: str) -> str:
    """Character data that reads as this text."""
    return escape(text, _IN_TEXT)


def escape_attribute(text: str) -> str:
    """An attribute value, to stand in double quotes, that reads as this text."""
    return escape(text, _IN_ATTRIBUTE)
