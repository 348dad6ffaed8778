"""Runs of integers in, one after the other as they come, the same as columns out."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from weft.columns.integers import Ints
from weft.columns.ragged import Ragged


class GrowingRuns:
    """Runs of integers that are only ever added; to add one costs no more where there are many."""

    def __init__(self) -> None:
        self._ends, self._entries = array("q", [0]), array("i")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, entries: Iterable[int]) -> int:
        """One more run; its number comes back."""
        self._entries.extend(entries)
        self._ends.append(len(self._entries))
        return len(self._ends) - 2

    def of(self, number: int) -> tuple[int, ...]:
        """One of the runs."""
        return tuple(self._entries[self._ends[number] : self._ends[number + 1]])

    def entries(self) -> Ints:
        """What all runs have, one run behind the other."""
        return np.array(self._entries, np.int32)

    def frozen(self) -> Ragged:
        """The runs as they are now."""
        return Ragged.of_runs(np.array(self._ends, np.int64), self.entries())
