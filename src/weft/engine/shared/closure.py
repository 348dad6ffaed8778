"""Nodes and what each of them leads to in, all that they lead to in the end out.

From results to what drives them this gives the nodes that must come up by themselves; all others are parts that are
looked at from a candidate, if there is one. From parts to what is made of them it gives all that depends on some.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.columns.ragged import Ragged


def closure(following: Ragged, nodes: Ints, size: int) -> Flags:
    """Marks on nodes, on all that follow them, that follow these, and so on."""
    marks, fresh = np.zeros(size, bool), nodes
    while fresh.size:
        marks[fresh] = True
        found = following.of(fresh)[1]
        fresh = np.unique(found[~marks[found]])
    return marks


def spread(marks: Flags, nodes: Ints, following: Ints) -> Generator[None, None, Flags]:
    """The same where all nodes matter, in steps: marks in, marks out, with pairs of a node and one that follows it."""
    marks = marks.copy()
    while nodes.size:
        is_open = ~marks[following]
        nodes, following = nodes[is_open], following[is_open]
        found = following[marks[nodes]]
        if not found.size:
            break
        marks[found] = True
        yield
    return marks
