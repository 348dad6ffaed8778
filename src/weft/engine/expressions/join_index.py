"""The items of a `for` clause with the values that they are joined by in, the places of those that can be equal out."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal

from weft.columns.kept import kept_property
from weft.engine.expressions.items import Items, SingleValue, Untyped
from weft.plans.numbers import double


class JoinIndex:
    """Items by their values: found by hash where they are texts, by order where they are numbers.

    What it cannot tell it leaves to who asks: all places come back then.
    """

    def __init__(self, items: Items, values: Sequence[list[SingleValue] | None]) -> None:
        self.items, self._values = items, values

    def places(self, operator: str, outer: list[SingleValue]) -> Sequence[int]:
        """The places of items of which some value may stand in the relation to some outer value, on its left."""
        if not outer:
            return ()
        everything = range(len(self.items))
        if operator == "=":
            by_text = self._by_text
            if by_text is None or not all(isinstance(each, str) for each in outer):
                return everything
            found = {place for each in outer for place in by_text.get(str(each), ())}
            return sorted(found)
        numbers = self._doubles(outer)
        if numbers is None or self._by_number is None:
            return everything
        values, places = self._by_number
        found = set()
        for number in numbers:
            if not math.isnan(number):
                found.update(places[_stretch(operator, values, number)])
        return sorted(found)

    @kept_property
    def _by_text(self) -> dict[str, list[int]] | None:
        found: dict[str, list[int]] = {}
        for place, values in enumerate(self._values):
            if values is None or not all(isinstance(each, str) for each in values):
                return None
            for each in {str(each) for each in values}:
                found.setdefault(each, []).append(place)
        return found

    @kept_property
    def _are_doubles(self) -> bool:
        return all(isinstance(each, float) for values in self._values for each in values or ())

    @kept_property
    def _by_number(self) -> tuple[list[float], list[int]] | None:
        """The numbers in order, and beside each the place of its item."""
        rows: list[tuple[float, int]] = []
        for place, values in enumerate(self._values):
            if values is None:
                return None
            for each in values:
                if isinstance(each, bool) or not isinstance(each, int | float | Decimal):
                    return None
                number = float(each)
                rows += [] if math.isnan(number) else [(number, place)]
        rows.sort()
        return [number for number, _ in rows], [place for _, place in rows]

    def _doubles(self, outer: list[SingleValue]) -> list[float] | None:
        """The outer values as doubles, where that is how they are compared."""
        found = []
        for each in outer:
            if isinstance(each, Untyped):
                found.append(double(each))
            elif isinstance(each, float) or (
                self._are_doubles and isinstance(each, int | Decimal) and not isinstance(each, bool)
            ):
                found.append(float(each))
            else:
                return None
        return found


def _stretch(operator: str, values: list[float], number: float) -> slice:
    """The values that a number on the left stands in the relation to."""
    match operator:
        case "<":
            return slice(bisect_right(values, number), None)
        case "<=":
            return slice(bisect_left(values, number), None)
        case ">":
            return slice(0, bisect_left(values, number))
        case _:
            return slice(0, bisect_right(values, number))
