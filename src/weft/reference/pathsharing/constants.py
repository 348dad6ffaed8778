"""Constants that values are compared with in, an index of them out: which of them a value stands in the relation to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from math import isnan

from weft.plans.comparisons import HOLDS, reader_of
from weft.plans.instants import Instant
from weft.plans.plan import Constant, Value


class ConstantIndex:
    """The constants of all tests that have one operator and read values in one way, as the paper indexes them."""

    def __init__(self, test: Value) -> None:
        self._operator, self._read = test.operator, reader_of(test)
        self._uses: Counter[Constant] = Counter()
        self._sorted: list[Constant] = []
        self._is_sorted = test.operator in ("<", "<=", ">", ">=") and not isinstance(test.constant, Instant)
        self._is_hashed = test.operator == "=" and not isinstance(test.constant, Instant)

    def add(self, constant: Constant) -> None:
        """One more test has this constant."""
        self._uses[constant] += 1
        if self._is_sorted and self._uses[constant] == 1:
            insort(self._sorted, constant)

    def remove(self, constant: Constant) -> None:
        """A test with this constant is gone."""
        self._uses[constant] -= 1
        if not self._uses[constant]:
            del self._uses[constant]
            if self._is_sorted:
                self._sorted.remove(constant)

    def passed(self, text: str) -> list[Constant]:
        """The constants of the tests that a value passes."""
        value = text if self._read is None else self._read(text)
        if value is None:
            return []
        if self._is_hashed:
            return [value] if value in self._uses else []
        if self._is_sorted:
            return self._beyond(value)
        return [constant for constant in self._uses if HOLDS[self._operator](value, constant)]

    def _beyond(self, value: Constant) -> list[Constant]:
        if isinstance(value, float) and isnan(value):  # in no relation
            return []
        match self._operator:
            case "<":
                return self._sorted[bisect_right(self._sorted, value) :]
            case "<=":
                return self._sorted[bisect_left(self._sorted, value) :]
            case ">":
                return self._sorted[: bisect_left(self._sorted, value)]
            case _:
                return self._sorted[: bisect_right(self._sorted, value)]
