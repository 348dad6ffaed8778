"""The constants of text tests on the same nodes in, an index out that finds the tests a value passes by one probe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import ahocorasick
import re2

Constants = list[tuple[str, int]]  # constant, test


class TextIndex(Protocol):
    """Tests with one operator, by constant."""

    def probe(self, value: str) -> Iterator[list[int]]:
        """The tests that a value passes, in lists."""


class Contains:
    """Substrings: one Aho-Corasick machine for all constants."""

    def __init__(self, constants: Constants) -> None:
        by_word: dict[str, list[int]] = {}
        for constant, test in constants:
            by_word.setdefault(constant, []).append(test)
        self._always = by_word.pop("", None)
        self._machine = ahocorasick.Automaton() if by_word else None
        if self._machine is not None:
            for word, tests in by_word.items():
                self._machine.add_word(word, tests)
            self._machine.make_automaton()

    def probe(self, value: str) -> Iterator[list[int]]:
        if self._machine is not None:
            yield from {id(tests): tests for _, tests in self._machine.iter(value)}.values()
        if self._always:
            yield self._always


class Affix:
    """Prefixes or suffixes: a hash of the constants, probed once for every length there is."""

    at_end = False

    def __init__(self, constants: Constants) -> None:
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
    """Regular expressions: one RE2 set for all, linear in the value whatever they are."""

    def __init__(self, constants: Constants) -> None:
        self._tests = [[test] for _, test in constants]
        options = re2.Options()
        options.log_errors = False
        self._patterns = re2.Set.SearchSet(options)
        for constant, _ in constants:
            self._patterns.Add(constant)
        self._patterns.Compile()

    def probe(self, value: str) -> Iterator[list[int]]:
        for pattern in self._patterns.Match(value) or ():
            yield self._tests[pattern]


TEXT_INDEXES: dict[str, type[Contains | Affix | Patterns]] = {
    "contains": Contains,
    "starts-with": Affix,
    "ends-with": Suffix,
    "matches": Patterns,
}
