"""What counts and positions say about each other: two comparisons in, whether the second follows from the first out.

Both are whole numbers from 1 on; a position may also be compared with the last one, which is at least as large.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, isfinite

from weft.plans.comparisons import HOLDS

#: An operator and a number; none stands for the last position.
Comparing = tuple[str, float | None]


def number_follows(known: Comparing | None, asked: Comparing, is_asked: bool = True) -> bool:
    """Whether the comparison that is asked for holds (or fails) of all numbers of which the known one holds."""
    of_last = [comparing[1] is None for comparing in (known, asked) if comparing is not None]
    if any(of_last) and not all(of_last):
        return number_follows(None, asked, is_asked)
    for point, last in _points(known, asked):
        if (known is None or _holds(known, point, last)) and _holds(asked, point, last) != is_asked:
            return False
    return True


def _holds(comparing: Comparing, point: int, last: int) -> bool:
    operator, constant = comparing
    return HOLDS[operator](point, last if constant is None else constant)


def _points(*comparisons: Comparing | None) -> Iterator[tuple[int, int]]:
    """Positions and last ones, of each kind that the comparisons can tell apart."""
    constants = [each[1] for each in comparisons if each is not None and each[1] is not None]
    near = {floor(each) + away for each in constants if isfinite(each) for away in (-1, 0, 1, 2)}
    points = {1, 2, *(point for point in near if point >= 1)}
    for point in points | {max(points) + 1}:
        yield point, point
        yield point, point + 1
