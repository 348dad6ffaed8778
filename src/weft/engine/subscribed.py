"""By subscription the results that it wants: one for most, in a column; the others aside."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

_GONE, _SEVERAL = -1, -2


class SubscribedResults:
    """The subscriptions of an index, by number. Numbers come in order, and go as they like."""

    def __init__(self) -> None:
        self._first = 0  # the number of the first subscription
        self._one = array("i")  # from there on its one result, or _GONE, or _SEVERAL
        self._several: dict[int, tuple[int, ...]] = {}  # also none at all
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, subscription: int) -> bool:
        place = subscription - self._first
        return 0 <= place < len(self._one) and self._one[place] != _GONE

    def __iter__(self) -> Iterator[int]:
        return (self._first + place for place, one in enumerate(self._one) if one != _GONE)

    def __getitem__(self, subscription: int) -> tuple[int, ...]:
        if subscription not in self:
            raise KeyError(subscription)
        one = self._one[subscription - self._first]
        return self._several[subscription] if one == _SEVERAL else (one,)

    def add(self, subscription: int, results: tuple[int, ...]) -> None:
        """A subscription with a number above all others wants results."""
        if not self._one:
            self._first = subscription
        missing = subscription - self._first - len(self._one)
        if missing:
            self._one.extend([_GONE] * missing)
        if len(results) == 1:
            self._one.append(results[0])
        else:
            self._one.append(_SEVERAL)
            self._several[subscription] = results
        self._size += 1

    def pop(self, subscription: int) -> tuple[int, ...]:
        """Let a subscription go; its results come back."""
        results = self[subscription]
        self._one[subscription - self._first] = _GONE
        self._several.pop(subscription, None)
        self._size -= 1
        return results
