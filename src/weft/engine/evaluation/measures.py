"""Measures and rows in, the tests on them that the rows' numbers pass out: each number is worked out once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints, Longs, expand, unique_pairs
from weft.documents.table import NodeTable
from weft.engine.evaluation.linked import Holds, counts
from weft.engine.evaluation.navigate import Navigation
from weft.engine.evaluation.refusals import Facts
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.nodes import COMPARISONS, NOTHING, MeasureKind

_Spans = list[tuple[Longs, Longs]]  # columns of where ranges begin and end


class MeasuredRows:
    """The measures of one batch. `holds` tells which pairs are facts already."""

    def __init__(self, table: NodeTable, navigation: Navigation, frozen: Frozen, holds: Holds) -> None:
        self._table, self._navigation, self._frozen, self._holds = table, navigation, frozen, holds

    def passed(self, nodes: Ints, rows: Ints) -> Facts:
        """(test on one of the measures, row that passes it); what drives a measure holds at its rows."""
        found = [(nodes[:0], rows[:0])]
        nodes, rows = unique_pairs(nodes, rows, self._table.nodes)
        for node in np.unique(nodes).tolist():
            met, numbers = self._numbers(node, rows[nodes == node])
            found += self._tests_passed(node, met, numbers)
        return np.concatenate([tests for tests, _ in found]), np.concatenate([met for _, met in found])

    def _numbers(self, node: int, rows: Ints) -> tuple[Ints, Longs]:
        """The rows that have a number, in order, with it."""
        shared = self._frozen.shared
        measures, row = shared.measures, shared.nodes.row[node]
        if measures.kind[row] != MeasureKind.COUNT:
            return self._positions(rows, measures.kind[row] == MeasureKind.FROM_END)
        met, numbers = counts(
            self._table, self._navigation, self._holds, shared.chains.links(measures.chain[row]), rows
        )
        if measures.driver[row] != NOTHING:
            return met, numbers
        all_numbers = np.zeros(rows.size, np.int64)  # where nothing is counted that is zero
        all_numbers[np.searchsorted(rows, met)] = numbers
        return rows, all_numbers

    def _positions(self, rows: Ints, is_from_end: bool) -> tuple[Ints, Longs]:
        """The positions of rows among those of the same parent."""
        parents = self._table.parent[rows]
        parents = np.where(parents < 0, ~self._table.node_document[rows], parents)  # roots are nobody's siblings
        order = np.lexsort((rows, parents))
        rows, parents = rows[order], parents[order]
        begins = np.flatnonzero(np.append(True, np.diff(parents) != 0)[: rows.size])
        sizes = np.diff(np.append(begins, rows.size))
        position = np.arange(rows.size) - np.repeat(begins, sizes) + 1
        return rows, position - np.repeat(sizes, sizes) if is_from_end else position

    def _tests_passed(self, node: int, rows: Ints, numbers: Longs) -> list[Facts]:
        """The tests on a measure in the order of their constants, of which a number passes at most two ranges."""
        columns, tests = self._frozen.columns, self._frozen.dependents.of(np.array([node]))[1]
        found = []
        for operator in np.unique(columns.operator[tests]).tolist():
            here = tests[columns.operator[tests] == operator]
            limits = columns.number[here]
            order = np.argsort(limits, kind="stable")  # not-a-number comes last
            for starts, ends in _spans(COMPARISONS[operator], limits[order], numbers):
                which, inside = expand(starts, ends)
                found.append((here[order][inside], rows[which]))
        return found


def _spans(operator: str, limits: NDArray[np.float64], numbers: Longs) -> _Spans:
    """Of limits in order those that each number is in a relation to."""
    low, high = np.searchsorted(limits, numbers), np.searchsorted(limits, numbers, "right")
    none, every = np.zeros_like(low), np.full_like(low, limits.size)
    ordered = np.full_like(low, int(np.count_nonzero(~np.isnan(limits))))
    return {
        "=": [(low, high)],
        "!=": [(none, low), (high, every)],
        "<": [(high, ordered)],
        "<=": [(low, ordered)],
        ">": [(none, low)],
        ">=": [(none, high)],
    }[operator]
