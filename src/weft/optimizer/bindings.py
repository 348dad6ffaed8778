"""Pairs of nodes in, those that survive a structural join out: what the patterns of a tree hold in one batch."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.documents.table import NodeTable
from weft.optimizer.pattern_tree import PatternTree

#: The nodes that a pattern holds, each beside the one of its parent pattern that it is below; pairs in order.
NodePairs = tuple[Ints, Ints]


class PatternBindings:
    """The elements that survive, as rows, and what the patterns retrieved so far hold in them."""

    def __init__(self, table: NodeTable, tree: PatternTree, roots: Ints) -> None:
        self._elements, self._tree = roots, tree
        self._marks = np.zeros(table.nodes, bool)
        self.roots = roots
        self.held: dict[int, NodePairs] = {}

    def holders(self, at: int | None) -> Ints:
        """The surviving nodes that a pattern holds, ascending; the elements for None."""
        if at is None:
            return self.roots
        above, nodes = self.held[at]
        kept = self._among(above, self.holders(self._tree.patterns[at].parent))
        if not kept.all():
            above, nodes = above[kept], nodes[kept]
            self.held[at] = above, nodes
        return distinct_sorted(nodes)

    def join(self, at: int, pairs: NodePairs) -> None:
        """StructuralJoin: the pairs of a pattern; what has none of them below it does not survive."""
        self.held[at] = pairs
        self._reduce(self._tree.patterns[at].parent, pairs[0])

    def _reduce(self, at: int | None, needed: Ints) -> None:
        if at is None:
            self.roots = self.roots[self._among(self.roots, needed)]
            return
        above, nodes = self.held[at]
        kept = self._among(nodes, needed)
        if not kept.all():
            self.held[at] = above[kept], nodes[kept]
            self._reduce(self._tree.patterns[at].parent, above[kept])

    def _among(self, nodes: Ints, some: Ints) -> Flags:
        """Which nodes are among some."""
        marks = self._marks
        marks[some] = True
        found = marks[nodes]
        marks[some] = False
        return found

    def elements(self, rows: Ints) -> int:
        """In how many elements rows lie."""
        return int(distinct_sorted(np.searchsorted(self._elements, rows, side="right").astype(np.int32)).size)


def distinct_sorted(nodes: Ints) -> Ints:
    """Each once."""
    if nodes.size < 2:
        return nodes
    if (nodes[1:] < nodes[:-1]).any():
        nodes = np.sort(nodes)
    return np.asarray(nodes[np.append(True, nodes[1:] != nodes[:-1])])
