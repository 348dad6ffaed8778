"""The constants of many tests on the same nodes in, an index out that finds the tests a value passes by one probe."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

import ahocorasick
import numpy as np
import re2
from numpy.typing import NDArray

from weft.languages.xpath.numbers import number
from weft.plans.plan import Operator

Ints = NDArray[np.int32]
Constants = list[tuple[str | float, int]]  # constant, test
_NONE = np.zeros(0, np.int32)


class Index(Protocol):
    """Tests with one operator, by constant."""

    def probe(self, values: list[str]) -> Iterable[tuple[int, Ints | list[int]]]:
        """For values by their position, the tests they pass; positions that pass none may be left out."""


def make_index(operator: Operator, is_number: bool, constants: Constants) -> Index:
    """The index for an operator on texts or numbers."""
    if operator in ("=", "!="):
        equal = EqualNumbers(constants) if is_number else EqualTexts(constants)
        return equal if operator == "=" else Unequal(equal, constants)
    match operator:
        case "contains":
            return Contains(constants)
        case "starts-with" | "ends-with":
            return Affix(constants, at_end=operator == "ends-with")
        case "matches":
            return Patterns(constants)
        case _:
            return Ordered(operator, constants)


class EqualTexts:
    """Equality of strings: a hash from constant to tests."""

    def __init__(self, constants: Constants) -> None:
        self.tests: dict[object, list[int]] = {}
        for constant, test in constants:
            self.tests.setdefault(constant, []).append(test)

    def probe(self, values: list[str]) -> Iterable[tuple[int, list[int]]]:
        tests = self.tests
        return [(at, tests[value]) for at, value in enumerate(values) if value in tests]


class EqualNumbers(EqualTexts):
    """Equality of numbers; not-a-number equals nothing, which dict look-up by a fresh NaN gives by itself."""

    def probe(self, values: list[str]) -> Iterable[tuple[int, list[int]]]:
        tests = self.tests
        return [(at, tests[key]) for at, key in enumerate(map(number, values)) if key in tests and key == key]


class Unequal:
    """Inequality: all tests but those with the equal constant."""

    def __init__(self, equal: EqualTexts, constants: Constants) -> None:
        self.equal = equal
        self.all = np.array([test for _, test in constants], np.int32)

    def probe(self, values: list[str]) -> Iterable[tuple[int, Ints]]:
        equal = dict(self.equal.probe(values))
        return [(at, np.setdiff1d(self.all, equal[at]) if at in equal else self.all) for at in range(len(values))]


class Ordered:
    """Order of numbers: sorted constants and a binary search; what a value passes is a run of them."""

    def __init__(self, operator: Operator, constants: Constants) -> None:
        pairs = sorted((float(constant), test) for constant, test in constants if not math.isnan(float(constant)))
        self.constants = np.array([constant for constant, _ in pairs])
        self.tests = np.array([test for _, test in pairs], np.int32)
        self.side = "right" if operator in ("<", ">=") else "left"
        self.is_tail = operator in ("<", "<=")

    def probe(self, values: list[str]) -> Iterable[tuple[int, Ints]]:
        numbers = np.fromiter(map(number, values), np.float64, len(values))
        cuts = np.searchsorted(self.constants, numbers, side=self.side).tolist()  # type: ignore[call-overload]
        for at in np.flatnonzero(~np.isnan(numbers)).tolist():
            yield at, self.tests[cuts[at] :] if self.is_tail else self.tests[: cuts[at]]


class Contains:
    """Substrings: one Aho-Corasick machine for all constants."""

    def __init__(self, constants: Constants) -> None:
        self.tests: list[list[int]] = []
        self.always = [test for constant, test in constants if constant == ""]
        by_word: dict[str, list[int]] = {}
        for constant, test in constants:
            if constant:
                by_word.setdefault(str(constant), []).append(test)
        self.machine = ahocorasick.Automaton()
        for word, tests in by_word.items():
            self.machine.add_word(word, tests)
        self.has_words = bool(by_word)
        self.machine.make_automaton()

    def probe(self, values: list[str]) -> Iterable[tuple[int, list[int]]]:
        for at, value in enumerate(values):
            found = {id(tests): tests for _, tests in self.machine.iter(value)} if self.has_words else {}
            for tests in found.values():
                yield at, tests
            if self.always:
                yield at, self.always


class Affix:
    """Prefixes or suffixes: a hash of the constants, probed once for every length there is."""

    def __init__(self, constants: Constants, at_end: bool) -> None:
        self.tests: dict[str, list[int]] = {}
        for constant, test in constants:
            self.tests.setdefault(str(constant), []).append(test)
        self.lengths = sorted({len(affix) for affix in self.tests})
        self.at_end = at_end

    def probe(self, values: list[str]) -> Iterable[tuple[int, list[int]]]:
        for at, value in enumerate(values):
            for length in self.lengths:
                if length > len(value):
                    break
                affix = value[len(value) - length :] if self.at_end else value[:length]
                if affix in self.tests:
                    yield at, self.tests[affix]


class Patterns:
    """Regular expressions: one RE2 set for all, linear in the value whatever they are."""

    def __init__(self, constants: Constants) -> None:
        self.tests = [[test] for _, test in constants]
        options = re2.Options()
        options.log_errors = False
        self.patterns = re2.Set.SearchSet(options)
        for constant, _ in constants:
            self.patterns.Add(str(constant))
        self.patterns.Compile()

    def probe(self, values: list[str]) -> Iterable[tuple[int, list[int]]]:
        for at, value in enumerate(values):
            for pattern in self.patterns.Match(value) or ():
                yield at, self.tests[pattern]
