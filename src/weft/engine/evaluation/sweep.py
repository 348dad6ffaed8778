"""Sets of nodes along a path, for whole documents at once: the cost follows nodes and steps, however deep they nest.

Where elements lie in elements, pairs of a node and one above it are very many, and the nodes themselves are few. What
asks for nodes alone is answered by sums over the columns: how many marked nodes there are from here to there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.engine.paths.step_codes import decode_step

#: Which nodes of a kind pass the symbols of steps.
Keep = Callable[[Kind, Ints, Ints], Flags]


class Sweep:
    """Marks on the nodes of a batch, moved along steps."""

    def __init__(self, table: NodeTable, keep: Keep) -> None:
        self._table, self._keep = table, keep
        ends = {Kind.ELEMENT: (0, table.elements), Kind.ATTRIBUTE: (table.elements, table.first_text)}
        self._bounds = ends | {Kind.TEXT: (table.first_text, table.nodes)}
        self._rows = np.arange(table.elements, dtype=np.int32)

    def passing(self, step: int) -> Ints:
        """The nodes that a step is for, wherever they are."""
        symbol, kind, _ = decode_step(step)
        nodes = np.arange(*self._bounds[kind], dtype=np.int32)
        return nodes[self._keep(kind, nodes, np.full(nodes.size, symbol, np.int32))]

    def counts(self, step: int, nodes: Ints) -> Longs:
        """For every element how many of these nodes, which the step is for, it leads to."""
        table, (_, kind, deep) = self._table, decode_step(step)
        if not deep:
            parents = table.parent[nodes]
            return np.bincount(parents[parents >= 0], minlength=table.elements)
        marks = np.zeros(table.nodes + 1, np.int64)
        marks[nodes + 1] = 1
        before = np.cumsum(marks)
        begins, ends = table.span_below(self._rows, kind)
        return np.asarray(before[ends] - before[begins], np.int64)

    def firsts(self, step: int, nodes: Ints, rows: Ints) -> Ints:
        """For rows from which a deep step leads to some of these nodes, sorted, the first of them."""
        begins, _ = self._table.span_below(rows, decode_step(step)[1])
        return nodes[np.searchsorted(nodes, begins)]

    def above(self, steps: Sequence[int], nodes: Ints | None) -> Ints:
        """The elements from which steps lead to some of the nodes; without nodes, to anything."""
        for step in reversed(steps):
            passing = self.passing(step)
            if nodes is not None:
                passing = passing[self._marks(nodes)[passing]]
            nodes = np.flatnonzero(self.counts(step, passing)).astype(np.int32)
        return self._rows if nodes is None else nodes

    def below(self, steps: Sequence[int], rows: Ints) -> Ints:
        """The nodes that steps lead to from some of the rows."""
        table = self._table
        for step in steps:
            _, kind, deep = decode_step(step)
            passing = self.passing(step)
            rows = rows[rows < table.elements]
            if deep:
                begins, ends = table.span_below(rows, kind)
                change = np.bincount(begins, minlength=table.nodes + 1) - np.bincount(ends, minlength=table.nodes + 1)
                rows = passing[np.cumsum(change)[passing] > 0]
            else:
                parents = table.parent[passing]
                rows = passing[(parents >= 0) & self._marks(rows)[parents]]
        return rows

    def _marks(self, nodes: Ints) -> Flags:
        marks = np.zeros(self._table.nodes, bool)
        marks[nodes] = True
        return marks
