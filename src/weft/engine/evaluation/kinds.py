"""Candidates of one kind in, those that are facts out: how each kind of node of the shared plan comes to hold."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints, contains, join_keys, unique_pairs
from weft.documents.table import NodeTable
from weft.engine.evaluation.linked import Holds, linked_holds
from weft.engine.evaluation.measures import MeasuredRows
from weft.engine.evaluation.navigate import Navigation
from weft.engine.evaluation.refusals import Facts
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.nodes import NOTHING, NodeKind


class Kinds:
    """The kinds of nodes, for one batch. `holds` tells which pairs are facts already."""

    def __init__(self, table: NodeTable, navigation: Navigation, frozen: Frozen, holds: Holds) -> None:
        self._table, self._navigation, self._frozen, self._holds = table, navigation, frozen, holds
        self._measures = MeasuredRows(table, navigation, frozen, holds)

    def verify(self, kind: NodeKind, nodes: Ints, rows: Ints) -> Facts:
        """The facts among candidates, or that candidates lead to."""
        match kind:
            case NodeKind.EXISTS | NodeKind.LIFT:
                return self._lifted(nodes, rows)
            case NodeKind.FIRST:
                return self._first(nodes, rows)
            case NodeKind.AND:
                return self._and(nodes, rows)
            case NodeKind.MEASURE:
                return self._measures.passed(nodes, rows)
            case NodeKind.DOWN:
                return self._down(nodes, rows)
            case NodeKind.LINKED:
                return self._linked(nodes, rows)
            case _:
                return nodes, rows

    def exists(self, edges: Ints, rows: Ints) -> Flags:
        """Whether edges that begin at rows lead to anything."""
        result = np.zeros(rows.size, bool)
        wide = self._navigation.is_wide_below(edges, edges, rows)
        narrow = np.flatnonzero(~wide)
        try:
            origin, _ = self._navigation.down(edges[narrow], rows[narrow])
            result[narrow[origin]] = True
        except MemoryError:  # on the way, where a path has several deep steps
            wide[:] = True
        for edge in np.unique(edges[wide]).tolist():
            here = np.flatnonzero(wide & (edges == edge))
            result[here] = np.isin(rows[here], self._navigation.sweep.above(self._navigation.steps(edge), None))
        return result

    def _lifted(self, nodes: Ints, rows: Ints) -> Facts:
        """Where edges can begin that end at the candidates."""
        edges = self._frozen.edge[nodes]
        wide = self._navigation.is_wide_above(nodes, edges, rows)
        narrow = np.flatnonzero(~wide)
        origin, above = self._navigation.up(edges[narrow], rows[narrow])
        found = [(nodes[narrow[origin]], above)]
        for node in np.unique(nodes[wide]).tolist():
            above = self._navigation.above(int(self._frozen.edge[node]), rows[wide & (nodes == node)])
            found.append((np.full(above.size, node, np.int32), above))
        return _joined(found)

    def _first(self, nodes: Ints, rows: Ints) -> Facts:
        bits = max(self._table.nodes - 1, 1).bit_length()
        known = np.sort(join_keys(nodes, rows, bits))
        nodes, above = unique_pairs(*self._lifted(nodes, rows), self._table.nodes)
        edges = self._frozen.edge[nodes]
        wide = self._navigation.is_wide_below(edges, edges, above) & (self._frozen.edges.length[edges] == 1)
        first = np.zeros(nodes.size, np.int32)
        narrow = np.flatnonzero(~wide)
        which, below = self._navigation.down(edges[narrow], above[narrow])
        first[narrow] = below[np.searchsorted(which, np.arange(narrow.size))]
        sweep = self._navigation.sweep
        for edge in np.unique(edges[wide]).tolist():
            here = np.flatnonzero(wide & (edges == edge))
            step = self._navigation.steps(edge)[0]
            first[here] = sweep.firsts(step, sweep.passing(step), above[here])
        is_first = contains(known, join_keys(nodes, first, bits))
        return nodes[is_first], above[is_first]

    def _and(self, nodes: Ints, rows: Ints) -> Facts:
        which, checks, is_negated = self._frozen.columns.checks(nodes)
        passed = self._holds(checks, rows[which]) != (is_negated != 0)
        keep = np.bincount(which[~passed], minlength=nodes.size) == 0
        return nodes[keep], rows[keep]

    def _down(self, nodes: Ints, rows: Ints) -> Facts:
        by_test = self._frozen.columns.by_test[nodes] != 0
        return _joined(
            [self._down_by_test(nodes[by_test], rows[by_test]), self._down_by_parent(nodes[~by_test], rows[~by_test])]
        )

    def _down_by_test(self, nodes: Ints, rows: Ints) -> Facts:
        """Candidates pass the test; which of them have a parent that holds?"""
        parents, edges, navigation = self._frozen.columns.parent[nodes], self._frozen.edge[nodes], self._navigation
        wide = navigation.is_wide_above(nodes, edges, rows)
        narrow = np.flatnonzero(~wide)
        origin, above = navigation.up(edges[narrow], rows[narrow])
        reached = narrow[origin[self._holds(parents[narrow][origin], above)]]
        found = [(nodes[reached], rows[reached])]
        for node in np.unique(nodes[wide]).tolist():
            here, edge = rows[wide & (nodes == node)], int(self._frozen.edge[node])
            above = navigation.above(edge, here)
            above = above[self._holds(np.full(above.size, self._frozen.columns.parent[node], np.int32), above)]
            below = np.intersect1d(here, navigation.below(edge, above))
            found.append((np.full(below.size, node, np.int32), below))
        return _joined(found)

    def _down_by_parent(self, nodes: Ints, rows: Ints) -> Facts:
        """Candidates are where the parent holds; what is below them that passes the test?"""
        edges, navigation = self._frozen.edge[nodes], self._navigation
        wide = navigation.is_wide_below(nodes, edges, rows)
        narrow = np.flatnonzero(~wide)
        try:
            origin, below = navigation.down(edges[narrow], rows[narrow])
        except MemoryError:  # on the way, where a path has several deep steps
            if np.unique(nodes).size > 1:
                raise
            wide[:], origin, below = True, narrow[:0], rows[:0]
        found = [(nodes[narrow[origin]], below)]
        for node in np.unique(nodes[wide]).tolist():
            below = navigation.below(int(self._frozen.edge[node]), rows[wide & (nodes == node)])
            found.append((np.full(below.size, node, np.int32), below))
        nodes, below = _joined(found)
        tests = self._frozen.columns.test[nodes]
        tested = np.flatnonzero(tests != NOTHING)
        keep = np.ones(nodes.size, bool)
        keep[tested] = self._holds(tests[tested], below[tested])
        return nodes[keep], below[keep]

    def _linked(self, nodes: Ints, rows: Ints) -> Facts:
        found = []
        for node in np.unique(nodes).tolist():
            linked, row = self._frozen.shared.linked, self._frozen.shared.nodes.row[node]
            here, chain = np.unique(rows[nodes == node]), self._frozen.shared.chains.links(linked.chain[row])
            met = linked_holds(self._table, self._navigation, self._holds, chain, linked.goal[row], here)
            found.append((np.full(met.size, node, np.int32), met))
        return _joined(found)


def _joined(found: list[Facts]) -> Facts:
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([rows for _, rows in found])
