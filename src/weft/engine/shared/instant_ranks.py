"""Instants in, numbers out that lie among those of a plan's constants as the instants do."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from math import nan

from weft.plans.instants import INSTANT_TYPES, Instant, instant


class InstantRanks:
    """The constants of all types in order: each has an odd number, what lies between two of them the even one."""

    def __init__(self, constants: Iterable[Instant]) -> None:
        self._constants = sorted(set(constants))

    def number(self, value: Instant) -> float:
        """The number of an instant; only those of one type can be compared."""
        place = bisect_left(self._constants, value)
        return 2.0 * place + (place < len(self._constants) and self._constants[place] == value)

    def read(self, text: str) -> tuple[int, float]:
        """The place of a text's type among the types, and its number; -1 if it is no instant."""
        found = instant(text)
        return (-1, nan) if found is None else (INSTANT_TYPES.index(found.type), self.number(found))

    def reader(self, wanted: int) -> Callable[[str], float]:
        """What reads texts of one type; what is not of that type is not-a-number."""

        def read(text: str) -> float:
            place, number = self.read(text)
            return number if place == wanted else nan

        return read
