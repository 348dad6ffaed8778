"""The compiled run of an automaton along a document, checked by hand on tables that are small."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from weft.kernel import follow

ABSENT, SEVERAL = -1, -2
Column = np.ndarray[tuple[int], np.dtype[np.int32]]


def column(*numbers: int) -> Column:
    return np.array(numbers, np.int32)


# From state 1 class 0 leads to 2; from there class 1 to 3 and class 0 nowhere; class 2 is not known from there.
STEPS = column(0, 0, 0, 2, 0, 0, 0, 3, -1, 0, 0, 0)
ENDS = column(0, 0, 0, 1, 3), column(0, 1, 2)  # path 0 ends in state 2, paths 1 and 2 in state 3


def automaton(elements: tuple[int, ...], attributes: tuple[int, ...] = (), text: int = 0) -> tuple[Any, ...]:
    return STEPS, *ENDS, column(*elements), column(*attributes), array("i", [text])


def test_each_path_has_its_node_and_nothing_is_looked_at_below_a_dead_name() -> None:
    # 0: name 0, with 1: name 1, and 2: name 0, which is dead; in it 3, whose name is not known, and need not be
    table = column(-1, 0, 0, 2), column(3, 1, 3, 3), column(0, 1, 0, 9), column()
    states, nodes = column(0, 0, 0, 0), column(ABSENT, ABSENT, ABSENT)

    assert follow(automaton((0, 1)), 3, table, column(0, 4, 4, 4, 4, 4), states, nodes, 0, 0) is None
    assert nodes.tolist() == [0, 1, 1]
    assert states.tolist() == [2, 3, 0, 0]


def test_a_path_that_leads_to_two_nodes_has_several() -> None:
    table = column(-1, 0, 0, 0), column(3, 1, 2, 3), column(0, 1, 1, 1), column()
    nodes = column(ABSENT, ABSENT, ABSENT)

    assert follow(automaton((0, 1)), 3, table, column(0, 4, 4, 4, 4, 4), column(0, 0, 0, 0), nodes, 0, 0) is None
    assert nodes.tolist() == [0, SEVERAL, SEVERAL]


def test_attributes_and_texts_go_on_from_their_elements() -> None:
    # 0: an element, 1: its attribute of class 1, 2: its attribute of class 0, 3: its text
    table = column(-1, 0, 0, 0), column(0), column(0), column(0, 1)
    nodes = column(ABSENT, ABSENT, ABSENT)

    given = automaton((0,), (1, 0), text=0), 3, table
    assert follow(*given, column(0, 1, 1, 3, 3, 4), column(0), nodes, 0, 0) is None
    assert nodes.tolist() == [0, 1, 1]
    nodes = column(ABSENT, ABSENT, ABSENT)
    assert follow(automaton((0,), (1, 0), text=1), 3, table, column(0, 1, 1, 3, 3, 4), column(0), nodes, 0, 0) is None
    assert nodes.tolist() == [0, SEVERAL, SEVERAL]


def test_only_the_nodes_within_the_bounds_count() -> None:
    # two documents: 0 with 1 in it, 2 with 3 in it; the attributes 4 and 5 are theirs
    table = column(-1, 0, -1, 2, 0, 2), column(1, 1, 3, 3), column(0, 1, 0, 1), column(1, 1)
    nodes = column(ABSENT, ABSENT, ABSENT)

    assert (
        follow(automaton((0, 1), (0, 0)), 3, table, column(2, 4, 5, 6, 6, 6), column(0, 0, 0, 0), nodes, 0, 2) is None
    )
    assert nodes.tolist() == [2, 3, 3]


def test_documents_are_followed_one_behind_the_other_and_from_where_it_stopped() -> None:
    # 0 with 1 in it, 2 with 3 in it; the attributes 4 and 5 are theirs, and the name of the last is not known
    table = column(-1, 0, -1, 2, 0, 2), column(1, 1, 3, 3), column(0, 1, 0, 0), column(1, 7)
    bounds, states, nodes = column(0, 2, 4, 5, 6, 6, 2, 4, 5, 6, 6, 6), column(0, 0, 0, 0), column(*6 * [ABSENT])

    stop = follow(automaton((0, 1), (0, 0)), 3, table, bounds, states, nodes, 0, 0)

    assert stop == (1, 5)
    assert nodes.tolist() == [0, 1, 1, 2, ABSENT, ABSENT]
    assert follow(automaton((0, 1), (0, 0, 0, 0, 0, 0, 0, 1)), 3, table, bounds, states, nodes, *stop) is None
    assert nodes.tolist() == [0, 1, 1, 2, 5, 5]


def test_it_stops_where_a_step_or_a_name_is_not_known_and_goes_on_from_there() -> None:
    table = column(-1, 0, 0), column(2, 1, 2), column(0, 2, 1), column()
    states, nodes = column(0, 0, 0), column(ABSENT, ABSENT, ABSENT)
    bounds = column(0, 3, 3, 3, 3, 3)

    assert follow(automaton(()), 3, table, bounds, states, nodes, 0, 0) == (0, 0)  # its name
    assert follow(automaton((0, 1, 2)), 3, table, bounds, states, nodes, 0, 0) == (0, 1)  # its step
    steps = STEPS.copy()
    steps[8] = 0
    assert follow((steps, *automaton((0, 1, 2))[1:]), 3, table, bounds, states, nodes, 0, 1) is None
    assert nodes.tolist() == [0, 2, 2]


def test_what_does_not_fit_is_refused() -> None:
    table = column(-1, 0), column(0), column(0), column(0)
    bounds = column(0, 1, 1, 2, 2, 2)
    good: tuple[Any, ...] = automaton((0,), (0,)), 3, table, bounds, column(0), column(ABSENT), 0, 0
    wrong: list[tuple[Any, ...]] = [
        good[:6],
        (automaton((0,))[:5], *good[1:]),
        ((np.zeros(12), *automaton((0,))[1:]), *good[1:]),
        (good[0], "x", *good[2:]),
        (good[0], 0, *good[2:]),
        (*good[:2], table[:3], *good[3:]),
        (*good[:2], (column(-1), *table[1:]), *good[3:]),
        (*good[:2], (table[0], column(), *table[2:]), *good[3:]),
        (*good[:3], column(0, 1), *good[4:]),
        (*good[:3], column(0, 2, 2, 2, 2, 2), *good[4:]),
        (*good[:3], column(-1, 1, 1, 2, 2, 2), *good[4:]),
        (*good[:3], column(0, 1, 0, 2, 2, 2), *good[4:]),
        (*good[:3], column(0, 1, 1, 2, 2, 3), *good[4:]),
        (*good[:4], column(), *good[5:]),
        (*good[:4], b"0000", *good[5:]),
        (*good[:5], b"0000", 0, 0),
        (*good[:6], -1, 0),
        (*good[:6], "x", 0),
        (*good[:6], 0, -1),
        (*good[:6], 0, "x"),
        (*good[:3], column(*bounds, *bounds), column(0), column(ABSENT), 0, 0),
    ]
    assert follow(*good) is None
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError, BufferError)):
            follow(*arguments)
