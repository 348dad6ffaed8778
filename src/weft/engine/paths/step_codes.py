"""A step of a path as one number: its label test's symbol, its kind and whether it is deep in, the code out."""

from __future__ import annotations

from weft.columns.integers import Ints
from weft.documents.kind import Kind

#: The symbol of `*` for elements, which has no label test.
STAR_SYMBOL = -1


def code_step(symbol: int, kind: Kind, deep: bool) -> int:
    """The code of a step, never negative."""
    return ((symbol + 1) * 4 + kind) * 2 + deep


def decode_step(code: int) -> tuple[int, Kind, bool]:
    """Symbol, kind, and whether it is deep."""
    return code // 8 - 1, Kind(code // 2 % 4), bool(code % 2)


def symbols_of_codes(codes: Ints) -> Ints:
    """The symbols of many steps at once."""
    return (codes >> 3) - 1
