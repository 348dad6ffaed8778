"""XSCL: joins between documents."""

from weft.languages.xscl.parser import parse

__all__ = ["parse"]
