"""Tests made of `and`, `or` and `not` over many rows at once."""

from itertools import product

import numpy as np

from weft.columns.integers import Flags
from weft.engine.evaluation.booleans import passing
from weft.plans.plan import Always, And, Named, Not, Or, Test

LABELS = ("a", "b", "c")
#: Every row is one way in which the three parts can be true.
ROWS = np.array(list(product((False, True), repeat=3)))
A, B, C = map(Named, LABELS)


def part(test: Test) -> Flags:
    assert isinstance(test, Named)
    return np.asarray(ROWS[:, LABELS.index(str(test.label))])


def test_combinations_mean_what_they_mean_in_python() -> None:
    test = Or((And((A, Not(B))), And((Not(Or((A, C))), Always(True))), Always(False)))

    assert passing(test, len(ROWS), part).tolist() == [
        (a and not b) or not (a or c) for a, b, c in product((False, True), repeat=3)
    ]


def test_parts_are_asked_for_even_where_there_are_no_rows() -> None:
    asked = []

    def nothing(test: Test) -> Flags:
        asked.append(test)
        return np.zeros(0, bool)

    assert passing(And((A, Not(B), Always(True))), 0, nothing).shape == (0,)
    assert asked == [A, B]
