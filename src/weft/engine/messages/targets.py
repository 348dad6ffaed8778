"""Results in, the subscriptions that want them out: many subscriptions share a result, and most results have one."""

from __future__ import annotations

from array import array

import numpy as np

from weft.columns.integers import Flags, Ints

_NOBODY = -1


class Targets:
    """For every result its subscriptions: the first in a column, the others aside."""

    def __init__(self) -> None:
        self._first = array("i")
        self._has_others = array("b")
        self._others: dict[int, list[int]] = {}
        self._latest = _NOBODY
        self._known_first: Ints | None = None  # the column as an array, until it changes
        self.is_wanted_twice = False  # some subscription has wanted more than one result

    def __len__(self) -> int:
        return len(self._first)

    def new(self) -> int:
        """A result that nobody wants yet."""
        self._known_first = None
        self._first.append(_NOBODY)
        self._has_others.append(False)
        return len(self._first) - 1

    def add(self, result: int, subscription: int) -> None:
        """A subscription wants a result; all that it wants are told one after the other."""
        self.is_wanted_twice |= subscription == self._latest
        self._latest, self._known_first = subscription, None
        if self._first[result] == _NOBODY:
            self._first[result] = subscription
        else:
            self._others.setdefault(result, []).append(subscription)
            self._has_others[result] = True

    def remove(self, result: int, subscription: int) -> bool:
        """Remove one subscriber; return whether it was the last."""
        others, self._known_first = self._others.get(result, []), None
        if self._first[result] == subscription:
            self._first[result] = others.pop() if others else _NOBODY
        else:
            others.remove(subscription)
        if not others:
            self._others.pop(result, None)
            self._has_others[result] = False
        return self._first[result] == _NOBODY

    @property
    def first(self) -> Ints:
        """By result the first subscription that wants it, below zero where nobody does."""
        known = self._known_first
        if known is None:
            known = self._known_first = np.frombuffer(self._first, np.int32).copy()
        return known

    def of(self, results: Ints) -> Ints:
        """All subscriptions that want one of these results; one that wants several comes several times."""
        return self.pairs(results)[1]

    def pairs(self, results: Ints) -> tuple[Ints, Ints]:
        """(position in the input, subscription) for all of them."""
        first = np.frombuffer(self._first, np.int32)[results]
        at = np.flatnonzero(first >= 0).astype(np.int32)
        if not self._others:
            return at, first[at]
        more = [
            (position, other)
            for position in np.flatnonzero(self._is_shared(results)).tolist()
            for other in self._others[int(results[position])]
        ]
        extra = np.array(more, np.int32).reshape(-1, 2)
        return np.concatenate([at, extra[:, 0]]), np.concatenate([first[at], extra[:, 1]])

    def _is_shared(self, results: Ints) -> Flags:
        return np.frombuffer(self._has_others, np.int8)[results] > 0

    @property
    def has_shared(self) -> bool:
        """Whether some result is wanted by more than one."""
        return bool(self._others)

    def sharing(self) -> dict[int, int]:
        """How many subscriptions the results with more than one have."""
        return {result: 1 + len(others) for result, others in self._others.items()}
