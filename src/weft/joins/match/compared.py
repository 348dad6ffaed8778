"""Nodes of documents that are compared in, which pairs of documents pass what openings ask beside equal values out.

A comparison of two variables holds if some node of the one and some node of the other stand in the relation: for an
order the least of one side and the greatest of the other tell, so that it costs the nodes and not the pairs of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs, expand
from weft.joins.compile.extras import NOTHING, RELATIONS, Extras
from weft.joins.match.readings import reading
from weft.joins.match.witness import Witnesses

FloatColumn = NDArray[np.float64]
_COLUMNS = (("_keys", np.int64), ("_value", np.int64), ("_number", np.float64), ("_instant", np.float64))
_PIECE = 1 << 20  # conditions that are looked at at once


class ComparedNodes:
    """The nodes of the variables that are compared by more than equality, by document and variable."""

    def __init__(self) -> None:
        self._size = 0
        self._keys: Longs = np.zeros(64, np.int64)  # the document's place and the variable; sorted
        self._value: Longs = np.zeros(64, np.int64)
        self._number: FloatColumn = np.zeros(64)  # not-a-number for what is none
        self._instant: FloatColumn = np.zeros(64)

    def __len__(self) -> int:
        return self._size

    def add(self, extras: Extras, witnesses: Witnesses, places: Ints, texts: dict[int, str]) -> None:
        """Documents come, in order, with places behind all others."""
        rows = np.flatnonzero(extras.asked.has(witnesses.variable))
        if not rows.size:
            return
        variable, value = witnesses.variable[rows], witnesses.value[rows]
        number, instant = np.full(rows.size, np.nan), np.full(rows.size, np.nan)
        for at in np.flatnonzero(extras.ranked.has(variable) & (value >= 0)).tolist():
            for column, read in zip((number, instant), reading(texts[int(value[at])]), strict=True):
                if read is not None:
                    column[at] = read
        end = self._size + rows.size
        if end > self._keys.size:
            for name, _ in _COLUMNS:
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros(end, column.dtype)]))
        self._keys[self._size : end] = places[witnesses.document[rows]].astype(np.int64) << 32 | variable
        self._value[self._size : end] = value
        self._number[self._size : end], self._instant[self._size : end] = number, instant
        self._size = end

    def cut(self, size: int) -> None:
        """What has come since there were so many has not."""
        self._size = size

    def compact(self, kept: Flags, places: Ints) -> None:
        """Keep the nodes of these documents, which have new places."""
        keys = self._keys[: self._size]
        rows = np.flatnonzero(kept[keys >> 32])
        for name, kind in _COLUMNS:
            setattr(self, name, np.concatenate([getattr(self, name)[: self._size][rows], np.zeros(64, kind)]))
        self._keys[: rows.size] = places[self._keys[: rows.size] >> 32].astype(np.int64) << 32 | (
            self._keys[: rows.size] & 0xFFFFFFFF
        )
        self._size = rows.size

    # -- comparisons

    def passing(self, extras: Extras, earlier: Ints, later: Ints, opening: Ints) -> Flags:
        """Which pairs of documents pass all that their opening asks for beside equal values."""
        passed = np.ones(opening.size, bool)
        starts, ends = extras.ranges(opening)
        if not (ends > starts).any():
            return passed
        for first in range(0, opening.size, _PIECE):
            some = slice(first, first + _PIECE)
            which, inside = expand(starts[some], ends[some])
            which += first
            relation, one, other = extras.at(inside)
            holds = np.ones(which.size, bool)
            left = self._spans(earlier[which], one)
            right = self._spans(later[which], other)
            for sides, variables in ((left, one), (right, other)):
                holds &= (sides[0] < sides[1]) | (variables == NOTHING)
            for number in np.unique(relation[holds]).tolist():
                if number:
                    rows = np.flatnonzero(holds & (relation == number))
                    spans = [(side[0][rows], side[1][rows]) for side in (left, right)]
                    holds[rows] = self._stands(RELATIONS[number] or "", spans[0], spans[1])
            passed[which[~holds]] = False
        return passed

    def _spans(self, document: Ints, variable: Ints) -> tuple[Longs, Longs]:
        keys = self._keys[: self._size]
        wanted = document.astype(np.int64) << 32 | np.maximum(variable, 0)
        return np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")

    def _stands(self, operator: str, left: tuple[Longs, Longs], right: tuple[Longs, Longs]) -> Flags:
        """Whether some node of the left ranges stands in a relation to one of the right ranges; none is empty."""
        if operator == "!=":
            ends = [_reduced(each, self._value, side) for side in (left, right) for each in (np.minimum, np.maximum)]
            same = (ends[0] == ends[1]) & (ends[1] == ends[2]) & (ends[2] == ends[3]) & (ends[0] >= 0)
            return np.asarray(~same)
        is_less = operator in ("<", "<=")
        holds = np.zeros(left[0].size, bool)
        for column in (self._number, self._instant):
            one = _reduced(np.fmin if is_less else np.fmax, column, left)
            other = _reduced(np.fmax if is_less else np.fmin, column, right)
            holds |= _COMPARED[operator](one, other)  # not-a-number stands in no relation
        return holds


_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _reduced(reduce: Any, column: NDArray[Any], spans: tuple[Longs, Longs]) -> NDArray[Any]:
    """What ranges of a column, none empty, come to."""
    starts, ends = spans
    if (ends - starts == 1).all():
        return column[starts]
    which, inside = expand(starts, ends)
    firsts = np.flatnonzero(np.append(True, which[1:] != which[:-1]))
    return np.asarray(reduce.reduceat(column[inside], firsts))
