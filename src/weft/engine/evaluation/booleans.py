"""A test made of `and`, `or` and `not` in, and a way to tell its other parts; which rows pass it out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.columns.integers import Flags
from weft.plans.plan import Always, And, Not, Or, Test


def passing(test: Test, size: int, part_passes: Callable[[Test], Flags]) -> Flags:
    """Which of so many rows pass a test; `part_passes` is asked for what is no combination."""
    match test:
        case And(tests):
            return np.asarray(np.all([passing(part, size, part_passes) for part in tests], axis=0))
        case Or(tests):
            return np.asarray(np.any([passing(part, size, part_passes) for part in tests], axis=0))
        case Not(inner):
            return np.logical_not(passing(inner, size, part_passes))
        case Always(value):
            return np.full(size, value)
        case _:
            return part_passes(test)
