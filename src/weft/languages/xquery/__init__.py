"""FLWR, the part of XQuery that builds messages: text to plan."""

from weft.languages.xquery.parser import parse

__all__ = ["parse"]
