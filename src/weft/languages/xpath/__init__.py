"""XPath: text to plan."""

from weft.languages.xpath.common_forms import parse_common
from weft.languages.xpath.parser import parse

__all__ = ["parse", "parse_common"]
