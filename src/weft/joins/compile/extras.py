"""What openings ask of two documents beside equal values in, columns of it out: comparisons, and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.columns.flags import CountedNumbers
from weft.columns.integers import Ints, Longs
from weft.joins.compile.shapes import Condition
from weft.plans.comparisons import FLIPPED
from weft.plans.plan import Comparison

#: The numbers of relations in columns.
RELATIONS: tuple[Comparison | None, ...] = (None, "!=", "<", "<=", ">", ">=")
NOTHING = -1  # no variable: nothing is asked of that document
_SPARE = 1_024  # conditions that may be gone before the columns are made anew


class Extra(NamedTuple):
    """A relation between the values of two variables, or (the first relation) that they have nodes."""

    relation: int
    earlier: int
    later: int

    @classmethod
    def of(cls, condition: Condition, is_flipped: bool) -> Extra:
        """A condition; flipped if its right end is the earlier document's."""
        operator = FLIPPED[condition.operator] if is_flipped else condition.operator
        ends = condition.values[::-1] if is_flipped else condition.values
        return cls(RELATIONS.index(operator), *ends)

    @classmethod
    def existence(cls, variable: int, is_earlier: bool) -> Extra:
        """That one of the documents has a node of a variable."""
        return cls(0, variable, NOTHING) if is_earlier else cls(0, NOTHING, variable)


class Extras:
    """By opening what it asks for, in columns that only grow until they are made anew."""

    def __init__(self) -> None:
        self.asked = CountedNumbers()  # the variables whose nodes are asked for
        self.ranked = CountedNumbers()  # those whose values must be read as numbers and instants
        self._starts: Longs = np.zeros(64, np.int64)
        self._counts: Longs = np.zeros(64, np.int64)
        self._rows: Ints = np.zeros((64, 3), np.int32)
        self._size = self._gone = 0

    def add(self, opening: int, extras: Sequence[Extra]) -> None:
        """Take in what an opening asks for."""
        while opening >= self._counts.size:
            self._starts = np.concatenate([self._starts, np.zeros_like(self._starts)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        if not extras:
            return
        while self._size + len(extras) > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._starts[opening], self._counts[opening] = self._size, len(extras)
        self._rows[self._size : self._size + len(extras)] = extras
        self._size += len(extras)
        for extra in extras:
            for variable in (extra.earlier, extra.later):
                if variable != NOTHING:
                    self.asked.add(variable)
                    if extra.relation > 1:
                        self.ranked.add(variable)

    def remove(self, opening: int, extras: Sequence[Extra]) -> None:
        """Let go of what an opening asks for."""
        self._counts[opening] = 0
        self._gone += len(extras)
        for extra in extras:
            for variable in (extra.earlier, extra.later):
                if variable != NOTHING:
                    self.asked.remove(variable)
                    if extra.relation > 1:
                        self.ranked.remove(variable)
        if self._gone > max(_SPARE, self._size // 2):
            self._compact()

    def _compact(self) -> None:
        kept = np.flatnonzero(self._counts)
        rows = [self._rows[start : start + count] for start, count in zip(*self._of(kept), strict=True)]
        self._rows = np.concatenate([*rows, np.zeros((64, 3), np.int32)])
        self._starts[kept] = np.cumsum(self._counts[kept]) - self._counts[kept]
        self._size, self._gone = int(self._counts.sum()), 0

    def _of(self, openings: Longs) -> tuple[list[int], list[int]]:
        return self._starts[openings].tolist(), self._counts[openings].tolist()

    def ranges(self, openings: Ints) -> tuple[Longs, Longs]:
        """Where in the columns what some openings ask for begins and ends."""
        starts = self._starts[openings]
        return starts, starts + self._counts[openings]

    def at(self, places: Longs) -> tuple[Ints, Ints, Ints]:
        """The relations, the earlier documents' variables and the later ones' at some places of the columns."""
        rows = self._rows[places]
        return rows[:, 0], rows[:, 1], rows[:, 2]
