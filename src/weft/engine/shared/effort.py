"""The processor time that patterns take for one document: measured, and bounded before each search by its worst.

A search cannot be broken off. So one that could take too long is not begun: its tests are given up for the document.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from weft.plans.regex import LonePattern, PatternSet

_IN_ALL = 2.0  # seconds that the searches of a document may take in all
_EACH = 0.001  # seconds that every search has, also where others have taken all the time
_AT_MOST = 2 * _IN_ALL  # seconds with what these take
TOO_DEAR = f"regular expressions that may take more than {_IN_ALL:g} seconds"


class Effort:
    """What one document has cost so far."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._spent = 0.0
        self._by_search: dict[int, float] = {}
        self.given_up: set[int] = set()  # tests

    def search(self, search: PatternSet | LonePattern, value: str) -> list[int] | None:
        """The places of the patterns that match a value; nothing if that could take too long."""
        size = len(value) if value.isascii() else 3 * len(value)
        worst = search.nanoseconds * size * 1e-9
        key = id(search)
        own = self._by_search.get(key, 0.0)
        if self._spent + worst > _IN_ALL and (own + worst > _EACH or self._spent > _AT_MOST):
            return None
        start = self._clock()
        found = search.matching(value)
        took = self._clock() - start
        self._spent += took
        self._by_search[key] = own + took
        return found

    def give_up(self, tests: Iterable[int]) -> None:
        """It is not known whether the document's values pass these tests."""
        self.given_up.update(tests)
