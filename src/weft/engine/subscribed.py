"""By subscription the results that it wants: one for most, in a column; the others aside."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator

_GONE, _SEVERAL = -1, -2


class SubscribedResults:
    """The subscriptions of an index, by number. Numbers come in order, and go as they like.

    They may lie far apart, after many have come and gone elsewhere; so they are looked up, not counted off.
    """

    def __init__(self) -> None:
        self._numbers = array("i")  # in order
        self._one = array("i")  # beside each its one result, or _GONE, or _SEVERAL
        self._several: dict[int, tuple[int, ...]] = {}  # also none at all
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, subscription: int) -> bool:
        place = self._place(subscription)
        return place is not None and self._one[place] != _GONE

    def __iter__(self) -> Iterator[int]:
        return (number for number, one in zip(self._numbers, self._one, strict=True) if one != _GONE)

    def __getitem__(self, subscription: int) -> tuple[int, ...]:
        place = self._place(subscription)
        if place is None or self._one[place] == _GONE:
            raise KeyError(subscription)
        one = self._one[place]
        return self._several[subscription] if one == _SEVERAL else (one,)

    def add(self, subscription: int, results: tuple[int, ...]) -> None:
        """A subscription with a number above all others wants results."""
        assert not self._numbers or subscription > self._numbers[-1], "numbers come in order"
        self._numbers.append(subscription)
        if len(results) == 1:
            self._one.append(results[0])
        else:
            self._one.append(_SEVERAL)
            self._several[subscription] = results
        self._size += 1

    def pop(self, subscription: int) -> tuple[int, ...]:
        """Let a subscription go; its results come back."""
        results = self[subscription]
        self._one[bisect_left(self._numbers, subscription)] = _GONE
        self._several.pop(subscription, None)
        self._size -= 1
        return results

    def _place(self, subscription: int) -> int | None:
        place = bisect_left(self._numbers, subscription)
        return place if place < len(self._numbers) and self._numbers[place] == subscription else None
