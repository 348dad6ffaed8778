"""XPath: text to plan."""

from weft.languages.xpath.parser import parse

__all__ = ["parse"]
