"""FLWR, the part of XQuery that builds messages: text to plan."""

from weft.languages.xquery.reading import parse, parse_flwr

__all__ = ["parse", "parse_flwr"]
