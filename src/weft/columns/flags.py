"""Numbers that are counted up and down, and a column that tells which of some are there now."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints


class CountedNumbers:
    """Small numbers, each as often as it was added; asking for some takes as long as these are many, not those here."""

    def __init__(self) -> None:
        self._counts = np.zeros(64, np.int32)

    def add(self, number: int) -> bool:
        """One more; whether it was the first."""
        if number >= self._counts.size:
            grown = np.zeros(max(number + 1, 2 * self._counts.size), np.int32)
            grown[: self._counts.size] = self._counts
            self._counts = grown
        self._counts[number] += 1
        return bool(self._counts[number] == 1)

    def remove(self, number: int) -> bool:
        """One fewer; whether it was the last."""
        self._counts[number] -= 1
        return not self._counts[number]

    def has(self, numbers: Ints) -> Flags:
        """Which of these are there."""
        known = numbers < self._counts.size
        if known.all():
            return np.asarray(self._counts[numbers] > 0)
        return np.asarray(known & (self._counts[np.where(known, numbers, 0)] > 0))
