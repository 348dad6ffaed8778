"""Look-ups that drive conditions, by entry: a document's values in, the conditions that may hold out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from math import isnan
from typing import Any

from weft.engine.shared.constants import TEXT_INDEXES, TextIndex
from weft.headers.conditions import LookUp
from weft.headers.header import ABSENT
from weft.plans.comparisons import Read, reader_of
from weft.plans.plan import Constant, Value


class Drivers:
    """For each entry the conditions that a look-up of it drives, by the constant that it is compared with."""

    def __init__(self) -> None:
        self.entries: tuple[int, ...] = ()  # those that drive something
        self._of_entry: dict[int, _DriverConstants] = {}
        self.texts: tuple[dict[str, dict[int, None]], ...] = ()  # of each of these: conditions by the text that holds
        self.has_others = False  # whether some test is another one than being equal to a text
        self.probed = 0  # documents whose values were looked up here
        self.unprobed = 0  # and those that had no candidates, as too many conditions are driven by one entry
        self.blocking = -1  # the last one's entry
        self._unknown: Counter[int] = Counter()  # by entry: documents probed of whose value nothing was known
        self._driver: dict[int, LookUp] = {}
        self._driven: Counter[LookUp] = Counter()

    def driven_by(self, look_up: LookUp) -> int:
        """How many conditions a look-up drives."""
        return self._driven[look_up]

    def known(self, entry: int) -> int:
        """In how many of the documents probed the value of an entry that drives was known, or known not to be there."""
        return self.probed - self._unknown[entry]

    def conditions(self, entry: int) -> Set[int]:
        """The conditions that look-ups of an entry drive."""
        return self._of_entry[entry].conditions.keys()

    def add(self, condition: int, driver: LookUp) -> None:
        """A condition that can hold only if the driver does."""
        assert driver.test is not None
        self._driver[condition] = driver
        self._driven[driver] += 1
        if driver.entry not in self._of_entry:
            self._of_entry[driver.entry] = _DriverConstants()
            self._list_entries()
        self._of_entry[driver.entry].add(condition, driver.test)
        self.has_others |= self._of_entry[driver.entry].has_others

    def _list_entries(self) -> None:
        self.entries = tuple(self._of_entry)
        self.texts = tuple(constants.texts for constants in self._of_entry.values())

    def remove(self, condition: int) -> None:
        """A condition that nobody asks for any more."""
        driver = self._driver.pop(condition, None)
        if driver is not None:
            self._driven[driver] -= 1
            if not self._driven[driver]:
                del self._driven[driver]
            self._of_entry[driver.entry].remove(condition)
            if not len(self._of_entry[driver.entry]):
                del self._of_entry[driver.entry]
                self._list_entries()

    def held_otherwise(self, values: Sequence[str | None]) -> Iterator[int]:
        """The conditions that are driven by another test than being equal to a text, and whose driver holds.

        The values of `entries` are all known; None where there is no node.
        """
        for value, constants in zip(values, self._of_entry.values(), strict=True):
            if constants.has_others and value is not None:
                yield from constants.probe(value)

    def candidates(self, values: Iterable[str | int | None], most: int) -> tuple[list[int], list[int]] | None:
        """The conditions whose driver holds, given the values of `entries`, and those whose driver is not known.

        None if more than so many are driven by one entry of which nothing is known; `blocking` is that then.
        """
        found: list[int] = []
        unknown: list[int] = []
        entries: list[int] = []
        for value, (entry, constants) in zip(values, self._of_entry.items(), strict=True):
            if isinstance(value, str):
                if value in constants.texts:
                    found += constants.texts[value]
                if constants.has_others:
                    found += constants.probe(value)
            elif value != ABSENT:
                if len(constants) > most:
                    self.blocking = entry
                    self.unprobed += 1
                    return None
                unknown += constants.conditions
                entries.append(entry)
        self.probed += 1
        self._unknown.update(entries)
        return found, unknown


class _DriverConstants:
    """The tests on the values of one entry."""

    def __init__(self) -> None:
        self.conditions: dict[int, Value] = {}
        self.texts: dict[str, dict[int, None]] = {}  # by the text that a value must be: the most frequent test by far
        self.has_others = False
        self._others: list[Callable[[str], Iterator[int]]] | None = None

    def __len__(self) -> int:
        return len(self.conditions)

    def add(self, condition: int, test: Value) -> None:
        self.conditions[condition] = test
        if test.operator == "=" and isinstance(test.constant, str):
            self.texts.setdefault(test.constant, {})[condition] = None
        else:
            self.has_others, self._others = True, None

    def remove(self, condition: int) -> None:
        test = self.conditions.pop(condition)
        if test.operator == "=" and isinstance(test.constant, str):
            del self.texts[test.constant][condition]
            if not self.texts[test.constant]:
                del self.texts[test.constant]
        else:
            self._others = None

    def probe(self, value: str) -> Iterator[int]:
        """The conditions whose test, other than being equal to a text, the value passes."""
        if self._others is None:
            self._others = list(self._indexes())
        for index in self._others:
            yield from index(value)

    def _indexes(self) -> Iterator[Callable[[str], Iterator[int]]]:
        """An index for each operator and way to read a value but equal texts."""
        groups: dict[tuple[str, Read | None], list[tuple[Constant, int]]] = {}
        for condition, test in self.conditions.items():
            if test.operator != "=" or not isinstance(test.constant, str):
                groups.setdefault((test.operator, reader_of(test)), []).append((test.constant, condition))
        for (operator, read), constants in groups.items():
            if operator in TEXT_INDEXES:
                texts = [(str(constant), condition) for constant, condition in constants]
                yield _flat(TEXT_INDEXES[operator](texts))
            else:
                yield _Ordered(operator, constants, read)


def _flat(index: TextIndex) -> Callable[[str], Iterator[int]]:
    def probe(value: str) -> Iterator[int]:
        for found in index.probe(value):
            yield from found

    return probe


class _Ordered:
    """Tests with one comparison, by their constants in order: what a value passes is one range of them, or two."""

    def __init__(self, operator: str, constants: Sequence[tuple[Any, int]], read: Read | None) -> None:
        kept = sorted((each for each in constants if not _is_nan(each[0])), key=lambda each: each[0])
        self._unequal = [condition for constant, condition in constants if _is_nan(constant)]
        self._operator, self._read = operator, read
        self._constants = [constant for constant, _ in kept]  # all of one type, which `read` gives
        self._conditions = [condition for _, condition in kept]

    def __call__(self, text: str) -> Iterator[int]:
        value = text if self._read is None else self._read(text)
        if value is None:
            return
        if self._operator == "!=":
            yield from self._unequal
        if _is_nan(value):  # unequal to everything, and nothing else
            if self._operator == "!=":
                yield from self._conditions
            return
        low, high = bisect_left(self._constants, value), bisect_right(self._constants, value)
        match self._operator:
            case "=":
                yield from self._conditions[low:high]
            case "!=":
                yield from self._conditions[:low]
                yield from self._conditions[high:]
            case "<":
                yield from self._conditions[high:]
            case "<=":
                yield from self._conditions[low:]
            case ">":
                yield from self._conditions[:low]
            case _:
                yield from self._conditions[:high]


def _is_nan(value: Constant) -> bool:
    return isinstance(value, float) and isnan(value)
