"""The constants of text tests on the same nodes in, an index out that finds the tests a value passes by one probe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol
from weakref import WeakValueDictionary

import re2

from weft.engine.shared.effort import Effort
from weft.engine.shared.word_machine import WordMachine
from weft.plans.regex import MOST_INSTRUCTIONS, PatternSet, instructions

Constants = list[tuple[str, int]]  # constant, test


class TextIndex(Protocol):
    """Tests with one operator, by constant."""

    tests: list[int]

    def probe(self, value: str) -> Iterator[list[int]]:
        """The tests that a value passes, in lists."""


class Contains:
    """Substrings: one Aho-Corasick machine for all constants."""

    def __init__(self, constants: Constants) -> None:
        self.tests = [test for _, test in constants]
        by_word: dict[str, list[int]] = {}
        for constant, test in constants:
            by_word.setdefault(constant, []).append(test)
        self._always = by_word.pop("", None)
        self._words = WordMachine(by_word) if by_word else None

    def probe(self, value: str) -> Iterator[list[int]]:
        if self._words is not None:
            yield from self._words.inside(value)
        if self._always:
            yield self._always


class Affix:
    """Prefixes or suffixes: a hash of the constants, probed once for every length there is."""

    at_end = False

    def __init__(self, constants: Constants) -> None:
        self.tests = [test for _, test in constants]
        self._tests: dict[str, list[int]] = {}
        for constant, test in constants:
            self._tests.setdefault(constant, []).append(test)
        self._lengths = sorted({len(affix) for affix in self._tests})

    def probe(self, value: str) -> Iterator[list[int]]:
        for length in self._lengths:
            if length > len(value):
                break
            affix = value[len(value) - length :] if self.at_end else value[:length]
            if affix in self._tests:
                yield self._tests[affix]


class Suffix(Affix):
    """Suffixes."""

    at_end = True


class Patterns:
    """Regular expressions: few RE2 sets for all; where a set may take too long, its patterns one by one."""

    def __init__(self, constants: Constants) -> None:
        self.tests = [test for _, test in constants]
        tests: dict[str, list[int]] = {}
        for constant, test in constants:
            tests.setdefault(constant, []).append(test)
        self._sets = [
            (compiled, [tests[pattern] for pattern in compiled.patterns])
            for portion in _portions(list(tests))
            for compiled in _compile(portion)
        ]

    def probe(self, value: str, effort: Effort | None = None) -> Iterator[list[int]]:
        effort = effort or Effort()
        for compiled, tests in self._sets:
            found = effort.search(compiled, value)
            if found is None:
                yield from _one_by_one(compiled, tests, value, effort)
            else:
                for place in found:
                    yield tests[place]


def _one_by_one(compiled: PatternSet, tests: list[list[int]], value: str, effort: Effort) -> Iterator[list[int]]:
    for pattern, of_pattern in zip(compiled.alone(), tests, strict=True):
        if effort.given_up.issuperset(of_pattern):
            continue
        found = effort.search(pattern, value)
        if found is None:
            effort.give_up(of_pattern)
        elif found:
            yield of_pattern


#: The sets that are in use: when a subscription comes, those of the others need not be compiled again.
_compiled: WeakValueDictionary[tuple[str, ...], PatternSet] = WeakValueDictionary()


def _portions(patterns: list[str]) -> Iterator[tuple[str, ...]]:
    """Patterns in their order, as many at a time as a set is to have: what is added later changes the last portion."""
    portion: list[str] = []
    size = 0
    for pattern in patterns:
        more = instructions(pattern)
        if portion and size + more > MOST_INSTRUCTIONS:
            yield tuple(portion)
            portion, size = [], 0
        portion.append(pattern)
        size += more
    if portion:
        yield tuple(portion)


def _compile(patterns: tuple[str, ...]) -> list[PatternSet]:
    """One set, or if RE2 cannot serve so many at once, more of them; a pattern alone was tried when it was parsed."""
    known = _compiled.get(patterns)
    if known is not None:
        return [known]
    try:
        compiled = _compiled[patterns] = PatternSet(patterns)
    except re2.error:
        if len(patterns) == 1:
            raise
        middle = len(patterns) // 2
        return _compile(patterns[:middle]) + _compile(patterns[middle:])
    return [compiled]


TEXT_INDEXES: dict[str, type[Contains | Affix | Patterns]] = {
    "contains": Contains,
    "starts-with": Affix,
    "ends-with": Suffix,
    "matches": Patterns,
}
