"""Pairs of integers in, runs of integers by key out."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from weft.columns.integers import Ints, Longs, expand


class Pairs:
    """Pairs of numbers, as two columns that grow."""

    def __init__(self) -> None:
        self.left, self.right = array("i"), array("i")

    def add(self, left: int, right: int) -> None:
        """One more pair."""
        self.left.append(left)
        self.right.append(right)


class Ragged:
    """For every key a run of integers."""

    def __init__(self, pairs: Pairs | Iterable[tuple[int, int]], size: int) -> None:
        if isinstance(pairs, Pairs):
            left, right = np.array(pairs.left, np.int32), np.array(pairs.right, np.int32)
        else:
            left, right = np.array(list(pairs), np.int32).reshape(-1, 2).T
        order = np.argsort(left, kind="stable")
        self.starts: Longs = np.searchsorted(left[order], np.arange(size + 1))
        self.entries: Ints = right[order]

    def of(self, keys: Ints) -> tuple[Longs, Ints]:
        """(position of the key, entry) for all entries of some keys."""
        which, inside = expand(self.starts[keys], self.starts[keys + np.int64(1)])
        return which, self.entries[inside]
