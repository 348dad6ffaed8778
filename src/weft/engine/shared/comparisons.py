"""Comparisons with constants in, the same as columns out: by operator and reading, then state, then constant.

Constants become *codes*: a string its rank among all strings, a number its rank among all numbers. XPath and XQuery
differ in which texts are numbers, so a value may be two: each is looked up among the tests of its language. For an
instant stands a number that lies among those of the constants as the instant does (`InstantRanks`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs
from weft.engine.shared.instant_ranks import InstantRanks
from weft.plans.instants import INSTANT_TYPES, Instant
from weft.plans.numbers import double, number
from weft.plans.plan import Constant, Value


class Reading(IntEnum):
    """How a value is read before it is compared."""

    TEXT = 0
    NUMBER = 1  # as XPath's number()
    DOUBLE = 2  # as XQuery's xs:double()
    DATE = 3
    DATE_TIME = 4
    TIME = 5


READ: dict[Reading, Callable[[str], float]] = {Reading.NUMBER: number, Reading.DOUBLE: double}
#: Instants, by their types.
INSTANTS = (Reading.DATE, Reading.DATE_TIME, Reading.TIME)
#: Operator, and how the value is read.
Family = tuple[str, Reading]
FAMILIES: tuple[Family, ...] = tuple(
    (operator, reading) for reading in Reading for operator in ("=", "!=", "<", "<=", ">", ">=")
)


def reading_of(value: Value) -> Reading:
    """How the values that a test is on are read."""
    if isinstance(value.constant, str):
        return Reading.TEXT
    if isinstance(value.constant, Instant):
        return INSTANTS[INSTANT_TYPES.index(value.constant.type)]
    return Reading.DOUBLE if value.is_double else Reading.NUMBER


class Comparisons:
    """All comparisons of a shared plan: for each family where the tests of each state begin, their codes, and they."""

    def __init__(
        self, tests: Iterable[tuple[int, int, Family, Constant]], states: int, needed: Flags | None = None
    ) -> None:
        """Only tests that are `needed`, if that is given, are probed; the constants of all have codes."""
        columns: dict[Family, list[tuple[int, int, str | float]]] = {}
        entries: list[tuple[int, int, str | float]] = []
        orders_texts, tests = False, list(tests)
        self.instants = InstantRanks(constant for _, _, _, constant in tests if isinstance(constant, Instant))
        for test, state, family, constant in tests:
            entries.append((test, state, self.instants.number(constant) if isinstance(constant, Instant) else constant))
            orders_texts |= family[0] not in ("=", "!=") and family[1] is Reading.TEXT
            if needed is None or needed[test]:
                columns.setdefault(family, []).append(entries[-1])
        self.sorted_texts = sorted({c for _, _, c in entries if isinstance(c, str)})
        self.longest = max(map(len, self.sorted_texts), default=0)  # characters of a constant
        self.texts = {text: code for code, text in enumerate(self.sorted_texts)}
        self.orders_texts = orders_texts
        numbers = {c for _, _, c in entries if isinstance(c, float) and not math.isnan(c)}
        self.numbers = np.array(sorted(numbers))
        self.width = max(len(self.texts), len(self.numbers)) + 2
        self.families: dict[Family, tuple[Longs, Ints, Ints]] = {
            family: self._sort(columns[family], states) for family in FAMILIES if family in columns
        }

    def _sort(self, entries: list[tuple[int, int, str | float]], states: int) -> tuple[Longs, Ints, Ints]:
        state = np.array([state for _, state, _ in entries], np.int64)
        test = np.array([test for test, _, _ in entries], np.int32)
        code = np.array([self._code(constant) for _, _, constant in entries], np.int32)
        order = np.lexsort((code, state))
        return np.searchsorted(state[order], np.arange(states + 1)), code[order], test[order]

    def _code(self, constant: str | float) -> int:
        if isinstance(constant, str):
            return self.texts[constant]
        if math.isnan(constant):
            return self.width - 1  # above every rank: equal to nothing, unequal to all, never compared by order
        return int(np.searchsorted(self.numbers, constant))

    def number_of(self, codes: Ints) -> NDArray[np.float64]:
        """The numbers that codes stand for."""
        return np.append(self.numbers, np.nan)[np.minimum(codes, self.numbers.size)]
