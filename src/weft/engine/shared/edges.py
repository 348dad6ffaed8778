"""Edges between states and pairs of numbers as columns: nothing to the garbage collector, however many there are."""

from __future__ import annotations

from array import array

from weft.documents.kind import Kind


class Edges:
    """Paths from one state to another, as columns. `up` is a path's length where no step is deep, else 0."""

    def __init__(self) -> None:
        self.above, self.below, self.up = array("i"), array("i"), array("i")
        self.steps: list[tuple[int, ...]] = []

    def __len__(self) -> int:
        return len(self.steps)

    def add(self, above: int, below: int, up: int, steps: tuple[int, ...]) -> int:
        """One more edge; its number comes back."""
        self.above.append(above)
        self.below.append(below)
        self.up.append(up)
        self.steps.append(steps)
        return len(self.steps) - 1


def code_step(symbol: int, kind: Kind, deep: bool) -> int:
    """A step as one number; the symbol of `*` is NOTHING."""
    return ((symbol + 1) * 4 + kind) * 2 + deep


def decode_step(code: int) -> tuple[int, Kind, bool]:
    """Symbol, kind, and whether it is deep."""
    return code // 8 - 1, Kind(code // 2 % 4), bool(code % 2)
