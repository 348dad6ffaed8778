"""Tests and rows in, the rows that pass out: the paper's tree search, one query at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, unique_pairs
from weft.documents.table import NodeTable
from weft.engine.evaluation.booleans import passing
from weft.engine.evaluation.navigate import Navigation
from weft.engine.shared.plan import SharedPlan
from weft.plans.comparisons import HOLDS, holds
from weft.plans.names import passes
from weft.plans.plan import Count, First, Has, Link, Named, Path, Rank, Step, Test, Value


class TreeSearch:
    """Searches the trees of one batch."""

    def __init__(self, table: NodeTable, navigation: Navigation, shared: SharedPlan) -> None:
        self._table, self._navigation, self._shared = table, navigation, shared

    def passes(self, test: Test, rows: Ints, step: Step) -> Flags:
        """Which rows, that a step led to, pass a test."""
        return passing(test, rows.size, lambda part: self._part_passes(part, rows, step))

    def _part_passes(self, test: Test, rows: Ints, step: Step) -> Flags:
        match test:
            case Value():
                return np.array([holds(test, value) for value in self._table.string_values(rows)], bool)
            case Has(path, inner):
                return self._has(path, inner, rows)
            case Named(label):
                is_element = rows < self._table.elements
                names = [self._table.names[name] for name in self._table.name[rows[is_element]].tolist()]
                named = np.zeros(rows.size, bool)
                named[is_element] = [passes(label, name) for name in names]
                return named
            case First() | Count():
                return self._linked(test, rows)
            case Rank():
                return self._rank(test, rows, step)
            case _:
                raise TypeError(f"{test} is not a test on rows")

    def below(self, path: Path, rows: Ints) -> tuple[Longs, Ints]:
        """Where a path leads to from rows: (position in the input, node), in document order."""
        walk = self._shared.add_walk(path)
        return self._navigation.down(np.full(rows.size, walk, np.int32), rows)

    def follow(self, links: tuple[Link, ...], rows: Ints) -> tuple[Longs, Ints]:
        """Where links lead to from rows: (position in the input, node), each once, in document order."""
        origin, at = np.arange(rows.size), rows
        for link in links:
            which, nodes = self.below(link.path, at)
            starts, at = unique_pairs(origin[which].astype(np.int32), nodes, max(self._table.nodes, 1))
            origin = starts.astype(np.int64)
            if link.test is not None:
                keep = self.passes(link.test, at, link.path[-1])
                origin, at = origin[keep], at[keep]
        return origin, at

    def _has(self, path: Path, inner: Test | None, rows: Ints) -> Flags:
        origin, nodes = self.below(path, rows)
        if inner is not None:
            origin = origin[self.passes(inner, nodes, path[-1])]
        result = np.zeros(rows.size, bool)
        result[origin] = True
        return result

    def _rank(self, test: Rank, rows: Ints, step: Step) -> Flags:
        """Rank all siblings that the step leads to, then look the rows up; a root has none but itself."""
        parents = np.unique(self._table.parent[rows])
        is_root = self._table.parent[rows] < 0
        origin, siblings = self.below((replace(step, deep=False),), parents[parents >= 0])
        siblings = np.concatenate([siblings, rows[is_root]])
        group = np.concatenate([parents[parents >= 0][origin], ~rows[is_root]])
        if test.before is not None:
            keep = self.passes(test.before, siblings, step)
            siblings, group = siblings[keep], group[keep]
        order = np.lexsort((siblings, group))
        siblings, group = siblings[order], group[order]
        _, begins, place, sizes = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
        position = np.arange(group.size) - begins[place] + 1
        limit = sizes[place] if test.number is None else test.number
        return np.isin(rows, siblings[np.asarray(HOLDS[test.operator](position, limit), bool)])

    def _linked(self, test: First | Count, rows: Ints) -> Flags:
        origin, nodes = self.follow(test.links, rows)
        met, first, counts = np.unique(origin, return_index=True, return_counts=True)
        if isinstance(test, Count):
            passed = np.asarray(HOLDS[test.operator](counts, test.number), bool)
        else:
            passed = self.passes(test.test, nodes[first], test.links[-1].path[-1]) != test.fails
        result = np.zeros(rows.size, bool)
        result[met[passed]] = True
        return result
