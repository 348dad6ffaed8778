"""The compiled runs of an automaton along documents, checked by hand on tables and paths of names that are small."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from weft.kernel import follow, follow_paths

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


# -- along paths of names: 1 is /0, 2 is /0/1, 3 is /0/0, which is dead, 4 is /0/0/9 in it, 5 is /0/@0, 6 is /0/text()
PATHS = column(0, 0, 1, 1, 3, 1, 1), column(0, 1, 3, 1, 19, 2, 0)


def longs(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def states_of_paths() -> Column:
    return column(1, -1, -1, -1, -1, -1, -1)


def test_offsets_are_read_off_the_paths_that_documents_have() -> None:
    found = column(1, 2, 1, 3, 4, 1, 5, 6), column(0, 2, 5, 8), longs(5, SEVERAL, 0, 3, 6, 7, 8, 9)
    states, entries = states_of_paths(), longs(*9 * [77])

    assert follow_paths(automaton((0, 1), (1,), 1), 3, PATHS, found, [0, 1, 2], states, entries, 0, 0) is None
    assert entries.tolist() == [5, SEVERAL, SEVERAL, 0, ABSENT, ABSENT, 7, SEVERAL, SEVERAL]
    assert states.tolist() == [1, 2, 3, 0, 0, 3, 3]  # below what is dead no name needs to be known


def test_only_the_documents_that_are_asked_for_are_looked_at() -> None:
    found = column(1, 2, 1), column(0, 2, 3), longs(5, 6, 7)
    entries = longs(*6 * [77])

    assert follow_paths(automaton((0,)), 3, PATHS, found, [1], states_of_paths(), entries[:3], 0, 0) is None
    assert entries.tolist() == [7, ABSENT, ABSENT, 77, 77, 77]
    assert follow_paths(automaton((0, 1)), 3, PATHS, found, [1, 0], states_of_paths(), entries, 0, 0) is None
    assert entries.tolist() == [7, ABSENT, ABSENT, 5, 6, 6]


def test_it_stops_at_a_path_that_it_must_be_told_of_and_goes_on_from_there() -> None:
    found = column(1, 1, 2, 3), column(0, 1, 4), longs(5, 6, 7, 8)
    states, entries = states_of_paths(), longs(*6 * [77])
    given = 3, PATHS, found, [0, 1], states, entries

    assert follow_paths(automaton(()), *given, 0, 0) == (0, 0)  # its name
    assert follow_paths(automaton((0,)), *given, 0, 0) == (1, 2)
    assert entries.tolist() == [5, ABSENT, ABSENT, 6, ABSENT, ABSENT]
    assert follow_paths(automaton((0, 2)), *given, 1, 2) == (1, 2)  # its step
    assert follow_paths(automaton((0, 1)), *given, 1, 2) is None
    assert entries.tolist() == [5, ABSENT, ABSENT, 6, 7, 7]


def test_paths_that_do_not_fit_are_refused() -> None:
    found = column(1, 2), column(0, 2), longs(5, 6)
    states, entries = states_of_paths(), longs(77, 77, 77)
    good: tuple[Any, ...] = automaton((0, 1)), 3, PATHS, found, [0], states, entries, 0, 0
    wrong: list[tuple[Any, ...]] = [
        good[:8],
        (automaton((0,))[:5], *good[1:]),
        (good[0], "x", *good[2:]),
        (good[0], 0, *good[2:]),
        (*good[:2], PATHS[:1], *good[3:]),
        (*good[:2], (PATHS[0], column(0)), *good[3:]),
        (*good[:2], (column(0, 2, 1), column(0, 1, 1)), *good[3:]),  # above what it is below
        (*good[:2], (column(0, 0, -1), column(0, 1, 1)), *good[3:]),
        (*good[:2], (column(0, 0, 1), column(0, 1, -1)), *good[3:]),
        (*good[:3], found[:2], *good[4:]),
        (*good[:3], (column(2, 1), *found[1:]), *good[4:]),  # it is found before what it is below
        (*good[:3], (column(1, 9), *found[1:]), *good[4:]),
        (*good[:3], (column(0, 1), *found[1:]), *good[4:]),
        (*good[:3], (column(-1, 1), *found[1:]), *good[4:]),
        (*good[:3], (found[0], column(0, 3), found[2]), *good[4:]),
        (*good[:3], (found[0], column(2, 0), found[2]), *good[4:]),
        (*good[:3], (found[0], column(-1, 2), found[2]), *good[4:]),
        (*good[:3], (*found[:2], longs(5)), *good[4:]),
        (*good[:3], (*found[:2], column(5, 6)), *good[4:]),
        (*good[:4], (0,), *good[5:]),
        (*good[:4], ["x"], *good[5:]),
        (*good[:4], [1], *good[5:]),
        (*good[:4], [-1], *good[5:]),
        (*good[:4], [0, 0], *good[5:]),
        (*good[:5], b"0000", *good[6:]),
        (*good[:5], column(1), *good[6:]),
        (*good[:6], bytes(24), 0, 0),
        (*good[:6], column(77), 0, 0),
        (*good[:7], -1, 0),
        (*good[:7], "x", 0),
        (*good[:7], 0, -1),
        (*good[:7], 0, 2),
        (*good[:7], 0, "x"),
    ]
    for arguments in wrong:
        states[1:] = -1
        with pytest.raises((TypeError, ValueError, BufferError)):
            follow_paths(*arguments)
    states[1:] = -1
    assert follow_paths(*good) is None
