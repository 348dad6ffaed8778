"""Values in, the comparisons with constants that they pass out: one sorted column for each operator, for all queries.

Constants become *codes*: a string its rank among all strings, a number its rank among all numbers. A label path's tests
with one operator are a run of codes in order, so what a value passes is at most two ranges of that run. XPath and
XQuery differ in which texts are numbers, so a value may be two: each is looked up in the runs of its language.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, expand
from weft.plans.numbers import double, number
from weft.plans.plan import Value


class Reading(IntEnum):
    """How a value is read before it is compared."""

    TEXT = 0
    NUMBER = 1  # as XPath's number()
    DOUBLE = 2  # as XQuery's xs:double()


READ: dict[Reading, Callable[[str], float]] = {Reading.NUMBER: number, Reading.DOUBLE: double}
#: Operator, and how the value is read.
Family = tuple[str, Reading]
FAMILIES: tuple[Family, ...] = tuple(
    (operator, reading) for reading in Reading for operator in ("=", "!=", "<", "<=", ">", ">=")
)


def reading_of(value: Value) -> Reading:
    """How the values that a test is on are read."""
    if isinstance(value.constant, str):
        return Reading.TEXT
    return Reading.DOUBLE if value.is_double else Reading.NUMBER


@dataclass(frozen=True, slots=True)
class ConstantRun:
    """The tests with one operator at one label path, by code."""

    codes: Ints
    tests: Ints


class Comparisons:
    """All comparisons of a shared plan, by operator, then state, then code."""

    def __init__(
        self, tests: Iterable[tuple[int, int, Family, str | float]], states: int, needed: Flags | None = None
    ) -> None:
        """Only tests that are `needed`, if that is given, are probed; the constants of all have codes."""
        columns: dict[Family, list[tuple[int, int, str | float]]] = {}
        entries, orders_texts = [], False
        for test, state, family, constant in tests:
            entries.append((test, state, constant))
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

    def runs(self, states: Ints, families: Iterable[Family]) -> dict[Family, ConstantRun]:
        """The tests of some states, as one run for each family that they have tests of."""
        found = {}
        for family in families:
            starts, codes, tests = self.families[family]
            _, inside = expand(starts[states], starts[states + np.int64(1)])
            order = inside[np.argsort(codes[inside], kind="stable")]
            found[family] = ConstantRun(codes[order], tests[order])
        return found

    def ranks(self, value: str) -> tuple[int, int]:
        """From where to before where the equals of a text lie among the constants."""
        code = self.texts.get(value)
        if code is not None:
            return code, code + 1
        place = bisect_left(self.sorted_texts, value) if self.orders_texts else -1
        return place, place

    def probe(
        self, runs: Sequence[dict[Family, ConstantRun]], place: Longs, values: Sequence[str]
    ) -> Iterable[tuple[Longs, Ints]]:
        """For values, each at a place with its runs: (position of the value, test that it passes)."""
        texts = np.array([self.texts.get(value, -1) for value in values], np.int64)
        text_high = texts + (texts >= 0)
        if self.orders_texts:  # where a value that is no constant lies among them
            unknown = np.flatnonzero(texts < 0)
            text_high[unknown] = texts[unknown] = [
                bisect_left(self.sorted_texts, values[at]) for at in unknown.tolist()
            ]
        numbers = {
            reading: self._numbers(reading, runs, place, values)
            for reading in {reading for _, reading in self.families}
            if reading is not Reading.TEXT
        }
        for family in self.families:
            here = [run.get(family) for run in runs]
            sizes = np.array([run.codes.size if run else 0 for run in here])
            at = np.flatnonzero(sizes[place])
            if family[1] is Reading.TEXT:
                low, high = texts[at], text_high[at]
            else:
                is_number, rank, rank_high = numbers[family[1]]
                at = at[is_number[at] | (family[0] == "!=")]
                low, high = rank[at], rank_high[at]
            if at.size:
                yield from self._passed(family[0], here, sizes, place[at], at, low, high)

    def _numbers(
        self, reading: Reading, runs: Sequence[dict[Family, ConstantRun]], place: Longs, values: Sequence[str]
    ) -> tuple[Flags, Longs, Longs]:
        """Which values are numbers, and from where to where their equals lie; read only where it matters."""
        matters = np.array([any(other is reading for _, other in run) for run in runs], bool)[place]
        numbers, read = np.full(len(values), np.nan), READ[reading]
        some = np.flatnonzero(matters)
        numbers[some] = [read(values[at]) for at in some.tolist()]
        rank = np.searchsorted(self.numbers, numbers)
        is_known = np.zeros(len(values), bool)
        if self.numbers.size:
            is_known = self.numbers[np.minimum(rank, self.numbers.size - 1)] == numbers
        return ~np.isnan(numbers), rank, rank + is_known

    def _passed(
        self,
        operator: str,
        runs: list[ConstantRun | None],
        sizes: Longs,
        place: Longs,
        at: Longs,
        low: Longs,
        high: Longs,
    ) -> Iterable[tuple[Longs, Ints]]:
        """Values whose equals are the codes from `low` to below `high`."""
        codes = np.concatenate([run.codes for run in runs if run])
        tests = np.concatenate([run.tests for run in runs if run])
        keys = np.repeat(np.arange(len(runs)), sizes) * self.width + codes
        ends = np.cumsum(sizes)[place]
        starts = ends - sizes[place]
        from_low = np.searchsorted(keys, place * self.width + np.maximum(low, 0))
        from_high = np.searchsorted(keys, place * self.width + np.maximum(high, 0))
        ordered_ends = np.searchsorted(keys, place * self.width + self.width - 1)  # before the NaNs
        ranges = {
            "=": [(from_low, from_high)],
            "!=": [(starts, from_low), (from_high, ends)],
            "<": [(from_high, ordered_ends)],
            "<=": [(from_low, ordered_ends)],
            ">": [(starts, from_low)],
            ">=": [(starts, from_high)],
        }[operator]
        for begin, end in ranges:
            which, inside = expand(begin, end)
            yield at[which], tests[inside]
