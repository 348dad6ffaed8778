"""Numbers of subscriptions in, their ids out; of those that went too, for answers that are read later.

Numbers only grow, and are never given again. When most of those that there are names for have gone, the names of the
others are put together: what was given out before keeps the names that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints

_ROOM = 1_024


@dataclass(frozen=True, slots=True)
class SubscriptionIds:
    """The ids of some old numbers, and of all from `first` on; entries behind the latest number are still empty."""

    old: Ints
    of_old: NDArray[np.object_]
    first: int
    of_new: NDArray[np.object_]

    @classmethod
    def empty(cls) -> SubscriptionIds:
        """No names."""
        return cls(np.zeros(0, np.int32), np.zeros(0, object), 0, np.empty(_ROOM, object))

    def __getitem__(self, numbers: Ints) -> NDArray[np.object_]:
        """The ids of many numbers."""
        if not self.first:
            return self.of_new[numbers]
        names = np.empty(numbers.size, object)
        is_new = numbers >= self.first
        names[is_new] = self.of_new[numbers[is_new] - self.first]
        names[~is_new] = self.of_old[np.searchsorted(self.old, numbers[~is_new])]
        return names

    def of(self, number: int) -> str:
        """The id of one number."""
        if number >= self.first:
            return str(self.of_new[number - self.first])
        return str(self.of_old[np.searchsorted(self.old, number)])

    def with_name(self, number: int, name: str) -> SubscriptionIds:
        """With the id of the next number; mostly it is put into its place here."""
        names = self
        if number - self.first == self.of_new.size:
            wider = np.concatenate([self.of_new, np.empty(self.of_new.size, object)])
            names = SubscriptionIds(self.old, self.of_old, self.first, wider)
        names.of_new[number - self.first] = name
        return names

    def without_gone(self, numbers: Mapping[str, int], following: int) -> SubscriptionIds:
        """The ids of these numbers, in order, alone; `following` is the next number."""
        old = np.fromiter(numbers.values(), np.int32, len(numbers))
        of_old = np.empty(len(numbers), object)
        of_old[:] = list(numbers)
        return SubscriptionIds(old, of_old, following, np.empty(_ROOM, object))
