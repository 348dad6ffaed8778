"""The compiled look-up of label paths, checked by hand on tables that are small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.kernel import walk

# The root is label path 0; below it `1` leads to 7, and from there `2` to 9.
CHILDREN = {1: 7, 7 << 32 | 2: 9}


def column(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


def test_known_paths_are_looked_up_and_nameless_rows_have_none() -> None:
    labels = column(5, 5, 5, 5, 0)
    assert walk(CHILDREN, column(-1, 0, 0, 1), column(1, 2, -1, -1), labels, 0) == 4
    assert labels.tolist() == [7, 9, -1, -1, 0]


def test_it_stops_where_a_path_is_new_and_goes_on_from_there() -> None:
    labels = column(5, 5, 5, 0)
    parents, names = column(-1, 0, 0), column(1, 3, 2)
    assert walk(CHILDREN, parents, names, labels, 0) == 1
    assert labels.tolist() == [7, 5, 5, 0]
    assert walk(CHILDREN, parents, names, labels, 2) == 3
    assert labels.tolist() == [7, 5, 9, 0]


def test_columns_that_do_not_fit_are_refused() -> None:
    good = column(-1), column(1), column(0, 0)
    wrong: list[tuple[Any, ...]] = [
        (CHILDREN, np.zeros(1), *good[1:], 0),
        (CHILDREN, column(), *good[1:], 0),
        (CHILDREN, *good[:2], column(0), 0),
        (CHILDREN, column(9), *good[1:], 0),
        (CHILDREN, *good, -1),
        ([], *good, 0),
        (CHILDREN, *good),
    ]
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError, IndexError)):
            walk(*arguments)
