"""A test on the nodes that a chain of links leads to (how many, or what the first is) in, the rows where it holds out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.engine.columns import Ints, unique_pairs
from weft.engine.shared import NOTHING
from weft.languages.xpath.predicates import HOLDS
from weft.plans.plan import Value

if TYPE_CHECKING:
    from weft.engine.evaluate import Evaluation

#: Links from the bottom up (edge, node that must hold below it), and the goal: a test, or a comparison of the count.
Linked = tuple[tuple[tuple[int, int], ...], Value | tuple[str, float]]


def linked_holds(evaluation: Evaluation, linked: Linked) -> Ints:
    """The rows above the links at which the goal is met."""
    links, goal = linked
    ends = evaluation.ends_of(links[0][0])
    starts = ends
    for edge, node in links:
        if node != NOTHING:
            keep = evaluation.holds(np.full(starts.size, node, np.int32), starts)
            ends, starts = ends[keep], starts[keep]
        origin, above = evaluation.up(np.full(starts.size, edge, np.int32), starts)
        starts, ends = unique_pairs(above, ends[origin], evaluation.table.nodes)
    rows, first, counts = np.unique(starts, return_index=True, return_counts=True)
    if isinstance(goal, Value):
        holds = HOLDS[goal.operator]
        values = evaluation.table.string_values(ends[first])
        return rows[[holds(value, goal.constant) for value in values]] if rows.size else rows
    return rows[HOLDS[goal[0]](counts, goal[1])]
