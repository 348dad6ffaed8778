"""The compiled look-up of label paths and states, checked by hand on tables that are small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.kernel import follow, walk

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


# -- an automaton: from state 1 name 0 leads to 2; from there name 1 to 3, name 0 nowhere, and what 2 does is not known

STEPS = (0, 0, 0, 2, 0, 0, 0, 3, -1, 0, 0, 0)


def test_states_follow_from_the_parents_and_nothing_leads_out_of_the_dead_one() -> None:
    states = column(9, 9, 9, 9, 9, 1)
    parents, names = column(-1, 0, 0, 2, 1), column(0, 1, 0, 7, 0)

    assert follow(column(*STEPS), 3, parents, names, states, 0) == 5
    assert states.tolist() == [2, 3, 0, 0, 0, 1]


def test_it_stops_where_a_step_is_not_known() -> None:
    states = column(9, 9, 1)

    assert follow(column(*STEPS), 3, column(-1, 0), column(0, 2), states, 0) == 1
    assert states.tolist() == [2, 9, 1]


def test_what_does_not_fit_an_automaton_is_refused() -> None:
    good = column(*STEPS), 3, column(-1), column(0), column(0, 1), 0
    wrong: list[tuple[Any, ...]] = [
        good[:5],
        (np.zeros(12), *good[1:]),
        (good[0], "x", *good[2:]),
        (good[0], -1, *good[2:]),
        (good[0], 0, *good[2:]),
        (column(), *good[1:]),
        (*good[:2], column(), *good[3:]),
        (*good[:2], column(9), *good[3:]),
        (*good[:3], column(3), *good[4:]),
        (*good[:3], column(-1), *good[4:]),
        (*good[:4], column(0, 4), 0),
        (*good[:4], column(0, -1), 0),
        (*good[:4], column(0), 0),
        (*good[:5], -1),
    ]
    assert follow(*good) == 1
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError, IndexError)):
            follow(*arguments)
