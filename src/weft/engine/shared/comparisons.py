"""Comparisons with constants in, the same as columns out: by operator and reading, then state, then constant.

Constants become *codes*: a string its rank among all strings, a number its rank among all numbers. XPath and XQuery
differ in which texts are numbers, so a value may be two: each is looked up among the tests of its language. For an
instant stands a number that lies among those of the constants as the instant does (`InstantRanks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints
from weft.engine.shared.instant_ranks import InstantRanks
from weft.plans.instants import INSTANT_TYPES, Instant
from weft.plans.numbers import double, number
from weft.plans.plan import Value


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
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
_FIRST_ORDER = _OPERATORS.index("<")
FAMILIES: tuple[Family, ...] = tuple((operator, reading) for reading in Reading for operator in _OPERATORS)


def reading_of(value: Value) -> Reading:
    """How the values that a test is on are read."""
    if isinstance(value.constant, str):
        return Reading.TEXT
    if isinstance(value.constant, Instant):
        return INSTANTS[INSTANT_TYPES.index(value.constant.type)]
    return Reading.DOUBLE if value.is_double else Reading.NUMBER


@dataclass(frozen=True, slots=True)
class TestColumns:
    """Comparisons with constants as columns, and the constants by their numbers."""

    node: Ints
    state: Ints
    operator: NDArray[np.int8]
    reading: NDArray[np.int8]
    constant: Ints
    is_probed: Flags  # all constants have codes, but values are looked up among these tests only
    texts: list[str]
    numbers: NDArray[np.float64]
    instants: list[Instant]


class Comparisons:
    """All comparisons of a shared plan: for each family the states of its tests, in order, their codes, and they."""

    def __init__(self, tests: TestColumns) -> None:
        """The constants of all tests have codes; the families are empty until `sort` fills them."""
        of_texts = np.unique(tests.constant[tests.reading == Reading.TEXT])
        self.orders_texts = bool(((tests.reading == Reading.TEXT) & (tests.operator >= _FIRST_ORDER)).any())
        if self.orders_texts:
            of_texts = np.array(sorted(of_texts.tolist(), key=tests.texts.__getitem__), np.int32)
        #: The texts that something is compared with, by code; in order only where something asks for their order.
        self.coded_texts = [tests.texts[number] for number in of_texts.tolist()]
        self.text_codes: Ints = np.zeros(len(tests.texts), np.int32)  # by the number of a constant
        self.text_codes[of_texts] = np.arange(of_texts.size, dtype=np.int32)
        self.instants = InstantRanks(tests.instants)
        values = self._values(tests)
        self.numbers: NDArray[np.float64] = np.unique(values[~np.isnan(values)])
        self.families: dict[Family, tuple[Ints, Ints, Ints]] = {}

    def _values(self, tests: TestColumns) -> NDArray[np.float64]:
        """By test the number that it compares with, or that stands for its instant; not-a-number for texts."""
        values = np.full(tests.node.size, np.nan)
        on_number = np.flatnonzero((tests.reading == Reading.NUMBER) | (tests.reading == Reading.DOUBLE))
        values[on_number] = tests.numbers[tests.constant[on_number]]
        on_instant = np.flatnonzero(tests.reading >= min(INSTANTS))
        ranks = np.array([self.instants.number(each) for each in tests.instants], np.float64)
        values[on_instant] = ranks[tests.constant[on_instant]]
        return values

    def sort(self, tests: TestColumns) -> Iterator[None]:
        """Put the tests that are probed in order, one family after the other, in steps."""
        values = self._values(tests)
        family = tests.reading.astype(np.int32) * len(_OPERATORS) + tests.operator
        for at in np.unique(family[tests.is_probed]).tolist():
            here = np.flatnonzero((family == at) & tests.is_probed)
            if FAMILIES[at][1] is Reading.TEXT:
                code = self.text_codes[tests.constant[here]]
            else:  # not-a-number is above every rank: equal to nothing, unequal to all, never compared by order
                code = np.searchsorted(self.numbers, values[here]).astype(np.int32)
            yield
            state = tests.state[here]
            order = np.argsort(state.astype(np.int64) << 32 | code, kind="stable")
            yield
            self.families[FAMILIES[at]] = state[order], code[order], tests.node[here[order]]
            yield

    def number_of(self, codes: Ints) -> NDArray[np.float64]:
        """The numbers that codes stand for."""
        return np.append(self.numbers, np.nan)[np.minimum(codes, self.numbers.size)]


_NO_INTS, _NO_CODES = np.zeros(0, np.int32), np.zeros(0, np.int8)
NO_COMPARISONS = Comparisons(
    TestColumns(_NO_INTS, _NO_INTS, _NO_CODES, _NO_CODES, _NO_INTS, np.zeros(0, bool), [], np.zeros(0), [])
)
