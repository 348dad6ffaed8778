"""Pairs of integers in, runs of integers by key out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from weft.columns.integers import Ints, Longs, expand, stable_order


class Ragged:
    """For every key below `size` a run of integers, in the order in which they came."""

    def __init__(self, keys: Ints, entries: Ints, size: int) -> None:
        self.starts: Longs = np.zeros(size + 1, np.int64)
        self.entries: Ints = np.zeros(0, np.int32)
        if keys.size:
            self.starts[1:] = np.cumsum(np.bincount(keys, minlength=size))
            self.entries = np.ascontiguousarray(entries[stable_order(keys)], np.int32)

    @classmethod
    def of_runs(cls, starts: Longs, entries: Ints) -> Ragged:
        """Runs that lie one after the other already."""
        made = cls.__new__(cls)
        made.starts, made.entries = starts, entries
        return made

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[int, int]], size: int) -> Ragged:
        """The same from (key, entry)."""
        keys, entries = np.array(list(pairs), np.int32).reshape(-1, 2).T
        return cls(keys, entries, size)

    def of(self, keys: Ints) -> tuple[Longs, Ints]:
        """(position of the key, entry) for all entries of some keys."""
        which, inside = expand(self.starts[keys], self.starts[keys + np.int64(1)])
        return which, self.entries[inside]
