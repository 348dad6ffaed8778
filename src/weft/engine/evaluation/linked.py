"""A chain of links and rows in, what it leads to from them out: how many nodes, or whether the first passes a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, unique_pairs
from weft.documents.table import NodeTable
from weft.engine.evaluation.navigate import Navigation
from weft.engine.shared.effort import TOO_DEAR, Effort
from weft.engine.shared.node_tables import FirstGoal
from weft.engine.shared.nodes import NOTHING, Chain
from weft.plans.comparisons import holds as holds_of_value
from weft.plans.plan import Value
from weft.plans.regex import LonePattern

Holds = Callable[[Ints, Ints], Flags]


def follow(table: NodeTable, navigation: Navigation, holds: Holds, chain: Chain, rows: Ints) -> tuple[Ints, Ints]:
    """Where a chain leads to from rows: (row, node below), sorted, each once."""
    starts, ends = rows, rows
    for edge, node in chain:
        origin, below = navigation.down(np.full(ends.size, edge, np.int32), ends)
        starts, ends = unique_pairs(starts[origin], below, table.nodes)
        if node != NOTHING:
            keep = holds(np.full(ends.size, node, np.int32), ends)
            starts, ends = starts[keep], ends[keep]
    return starts, ends


def linked_holds(
    table: NodeTable, navigation: Navigation, holds: Holds, chain: Chain, goal: FirstGoal, rows: Ints
) -> Ints:
    """The rows from which what a chain leads to meets the goal."""
    met, first, _ = _met(table, navigation, holds, chain, rows)
    nodes, place = np.unique(first, return_inverse=True)
    passed = [passed != goal.fails for passed in _passes(goal.test, table.string_values(nodes))]
    return np.asarray(met[np.array(passed, bool)[place]], np.int32)


def counts(table: NodeTable, navigation: Navigation, holds: Holds, chain: Chain, rows: Ints) -> tuple[Ints, Longs]:
    """The rows from which a chain leads to anything, and to how many nodes."""
    met, _, numbers = _met(table, navigation, holds, chain, rows)
    return met, numbers


def passes_value(asked: Value, value: str) -> bool:
    """Whether a value passes a test; raises MemoryError where that could take too long."""
    return next(_passes(asked, [value]))


def _passes(asked: Value, values: list[str]) -> Iterator[bool]:
    """Which values pass a test; raises MemoryError where that could take too long."""
    if asked.operator != "matches":
        yield from (holds_of_value(asked, value) for value in values)
        return
    effort, pattern = Effort(), LonePattern(str(asked.constant))
    for value in values:
        found = effort.search(pattern, value)
        if found is None:
            raise MemoryError(TOO_DEAR)
        yield bool(found)


def _met(table: NodeTable, navigation: Navigation, holds: Holds, chain: Chain, rows: Ints) -> tuple[Ints, Ints, Longs]:
    """The rows from which a chain leads to anything, the first node that it leads to, and how many there are."""
    edge, node = chain[0]
    steps = navigation.steps(edge)
    edges = np.full(rows.size, edge, np.int32)
    if len(chain) > 1 or len(steps) > 1 or not navigation.is_wide_below(edges, edges, rows).any():
        starts, ends = follow(table, navigation, holds, chain, rows)
        met, first, counts = np.unique(starts, return_index=True, return_counts=True)
        return met, ends[first], counts
    passing = navigation.sweep.passing(steps[0])  # nested elements: counted by sums, not one by one
    if node != NOTHING:
        passing = passing[holds(np.full(passing.size, node, np.int32), passing)]
    counts = navigation.sweep.counts(steps[0], passing)[rows]
    met, counts = rows[counts > 0], counts[counts > 0]
    return met, navigation.sweep.firsts(steps[0], passing, met), counts
