"""A node table and the shared plan in, the results that hold out: all queries at once, as columns of integers.

A *fact* is a pair (node of the shared plan, node of the document). Facts come up height by height; the facts of one
height bring up candidates of greater height through their dependents, and a candidate becomes a fact when its other
parts hold too. Nothing is looked at that no fact has brought up.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from weft.documents.table import NodeTable
from weft.engine.columns import Ints, Longs, contains, expand, spans, unique_pairs
from weft.engine.labelplan import Frozen, LabelPlan, LabelPlans
from weft.engine.linked import Linked, linked_holds
from weft.engine.shared import NOTHING, NodeKind
from weft.languages.xpath.predicates import HOLDS

Mask = NDArray[np.bool_]
_NO_PAIRS = np.zeros(0, np.int64)


class Evaluation:
    """One batch against one shared plan."""

    def __init__(self, table: NodeTable, labels: Ints, plans: LabelPlans, frozen: Frozen) -> None:
        self.table, self.labels, self._plans, self._frozen = table, labels, plans, frozen
        self.order = np.argsort(labels, kind="stable").astype(np.int32)
        sorted_labels = labels[self.order]
        first = int(np.searchsorted(sorted_labels, 0))
        self.present, starts = np.unique(sorted_labels[first:], return_index=True)
        self.starts = np.append(starts + first, labels.size)
        all_plans = plans.paths.plans
        self.plans: list[LabelPlan] = [all_plans[label] for label in self.present.tolist()]
        self._facts: list[Longs] = []
        self._waiting: dict[int, list[tuple[Ints, Ints]]] = {}
        self._results: list[tuple[Ints, Ints]] = []
        self._pairs_known = np.zeros(len(frozen.edge_up), bool)
        self._pair_keys, self._pair_rows = _NO_PAIRS, np.zeros(0, np.int32)
        self._edge_table: tuple[Ints, Ints] | None = None

    def run(self) -> tuple[Ints, Ints]:
        """The results that the shared plan's nodes give, as (result, document node)."""
        if any(plan.has_work for plan in self.plans):
            self._begin()
            for height in range(self._frozen.tallest + 1):
                self._rise(height)
        if not self._results:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        return (
            np.concatenate([result for result, _ in self._results]),
            np.concatenate([row for _, row in self._results]),
        )

    def rows_of(self, at: int) -> Ints:
        """The document nodes of the label path at a place of `present`."""
        return self.order[self.starts[at] : self.starts[at + 1]]

    # -- facts

    def _begin(self) -> None:
        """What the label paths and the values bring up."""
        busy = [at for at, plan in enumerate(self.plans) if plan.has_work]
        for nodes_of in ("every", "facts", "exists", "linked"):
            nodes, rows = self.spread(busy, [getattr(self.plans[at], nodes_of) for at in busy])
            self._wait(nodes, rows)
        for at in busy:
            plan = self.plans[at]
            if not plan.tests:
                continue
            rows = self.rows_of(at)
            values = self.table.string_values(rows)
            for index in plan.tests:
                found = [(which, tests) for which, tests in index.probe(values) if len(tests)]
                if found:
                    counts = [len(tests) for _, tests in found]
                    nodes = np.concatenate([np.asarray(tests, np.int32) for _, tests in found])
                    self._wait(nodes, np.repeat(rows[[which for which, _ in found]], counts))

    def spread(self, places: list[int], nodes: list[Ints]) -> tuple[Ints, Ints]:
        """Each label path's nodes with each of its rows."""
        some = [(at, some) for at, some in zip(places, nodes, strict=True) if some.size]
        if not some:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        at = np.repeat([at for at, _ in some], [entry.size for _, entry in some])
        return self._with_rows(at, np.concatenate([entry for _, entry in some]))

    def _with_rows(self, at: NDArray[np.integer], nodes: Ints) -> tuple[Ints, Ints]:
        which, inside = expand(self.starts[at], self.starts[at + 1])
        return nodes[which], self.order[inside]

    def _wait(self, nodes: Ints, rows: Ints) -> None:
        """Candidates wait for their height."""
        if not nodes.size:
            return
        heights = self._frozen.height[nodes]
        for height in np.unique(heights).tolist():
            here = heights == height
            self._waiting.setdefault(height, []).append((nodes[here], rows[here]))

    def _rise(self, height: int) -> None:
        """Turn the candidates of a height into facts, and let these bring up what depends on them."""
        waiting = self._waiting.pop(height, None)
        if not waiting:
            return
        nodes = np.concatenate([nodes for nodes, _ in waiting])
        rows = np.concatenate([rows for _, rows in waiting])
        kinds = self._frozen.kind[nodes]
        facts = []
        for kind in np.unique(kinds).tolist():
            here = kinds == kind
            facts.append(self._verify(NodeKind(kind), nodes[here], rows[here]))
        nodes, rows = unique_pairs(
            np.concatenate([nodes for nodes, _ in facts]), np.concatenate([rows for _, rows in facts]), self.table.nodes
        )
        if not nodes.size:
            return
        self._facts.append(nodes * np.int64(self.table.nodes) + rows)
        results = self._frozen.result_of_node[nodes]
        if (is_result := results >= 0).any():
            self._results.append((results[is_result], rows[is_result]))
        starts = self._frozen.dependent_starts
        which, inside = expand(starts[nodes], starts[nodes.astype(np.int64) + 1])
        self._wait(self._frozen.dependents[inside], rows[which])

    def holds(self, nodes: Ints, rows: Ints) -> Mask:
        """Which of these are facts. An EXISTS that drives nothing is looked up by its edge."""
        result = np.zeros(nodes.size, bool)
        exists = self._frozen.kind[nodes] == NodeKind.EXISTS
        keys = nodes[~exists] * np.int64(self.table.nodes) + rows[~exists]
        found = np.zeros(keys.size, bool)
        for facts in self._facts:
            found |= contains(facts, keys)
        result[~exists] = found
        if exists.any():
            edges = self._frozen.edge[nodes[exists]]
            self._find_pairs(edges)
            keys = edges * np.int64(self.table.nodes) + rows[exists]
            result[exists] = contains(self._pair_keys, keys)
        return result

    # -- edges

    def up(self, edges: Ints, rows: Ints) -> tuple[NDArray[np.int64], Ints]:
        """Where edges that end at rows can begin: (position in the input, row), each once."""
        ups = self._frozen.edge_up[edges]
        shallow = np.flatnonzero(ups)
        targets = self.table.ancestors(rows[shallow], ups[shallow])
        if shallow.size == edges.size:
            return shallow, targets
        deep = np.flatnonzero(ups == 0)
        labels = self.labels[rows[deep]]
        keys, inverse = np.unique(edges[deep] * np.int64(2**32) + labels, return_inverse=True)
        depths = [self._plans.depths(key & 0xFFFFFFFF, key >> 32) for key in keys.tolist()]
        ends = np.cumsum([entry.size for entry in depths])
        which, inside = expand((ends - [entry.size for entry in depths])[inverse], ends[inverse])
        origin = deep[which]
        begins = self.table.at_depth(rows[origin], np.concatenate(depths)[inside])
        return np.concatenate([shallow, origin]), np.concatenate([targets, begins])

    def _find_pairs(self, edges: Ints) -> None:
        """Look up all (edge, row above, row below) for edges not looked up yet."""
        needed = np.zeros(self._pairs_known.size, bool)
        needed[edges] = True
        needed &= ~self._pairs_known
        if not needed.any():
            return
        self._pairs_known |= needed
        if self._edge_table is None:
            sizes = [plan.edges.size for plan in self.plans]
            flat = np.concatenate([plan.edges for plan in self.plans])
            self._edge_table = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), flat
        at, edge = self._edge_table
        found, rows = self._with_rows(at[needed[edge]], edge[needed[edge]])
        origin, above = self.up(found, rows)
        keys = np.concatenate([self._pair_keys, found[origin] * np.int64(self.table.nodes) + above])
        below = np.concatenate([self._pair_rows, rows[origin]])
        order = np.lexsort((below, keys))
        self._pair_keys, self._pair_rows = keys[order], below[order]

    def below(self, edges: Ints, rows: Ints) -> tuple[NDArray[np.int64], Ints]:
        """Where edges that begin at rows end: (position in the input, row below)."""
        self._find_pairs(edges)
        starts, ends = spans(self._pair_keys, edges * np.int64(self.table.nodes) + rows)
        which, inside = expand(starts, ends)
        return which, self._pair_rows[inside]

    def ends_of(self, edge: int) -> Ints:
        """All rows that the state below an edge reaches."""
        places = [at for at, plan in enumerate(self.plans) if edge in plan.edges]
        return np.sort(np.concatenate([self.rows_of(at) for at in places]))

    # -- how each kind of candidate becomes a fact

    def _verify(self, kind: NodeKind, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]:
        match kind:
            case NodeKind.EXISTS | NodeKind.LIFT:
                origin, above = self.up(self._frozen.edge[nodes], rows)
                return nodes[origin], above
            case NodeKind.FIRST:
                return self._verify_first(nodes, rows)
            case NodeKind.AND:
                return self._verify_and(nodes, rows)
            case NodeKind.RANK:
                return self._verify_rank(nodes, rows)
            case NodeKind.DOWN:
                return self._verify_down(nodes, rows)
            case NodeKind.LINKED:
                return self._verify_linked(nodes)
            case _:
                return nodes, rows

    def _verify_first(self, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]:
        edges = self._frozen.edge[nodes]
        origin, above = self.up(edges, rows)
        self._find_pairs(edges)
        starts, _ = spans(self._pair_keys, edges[origin] * np.int64(self.table.nodes) + above)
        is_first = self._pair_rows[starts] == rows[origin]
        return nodes[origin][is_first], above[is_first]

    def _verify_and(self, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]:
        details = self._frozen.shared.detail
        checks = [cast(tuple[int, tuple[int, ...]], details[node])[1] for node in nodes.tolist()]
        which = np.repeat(np.arange(nodes.size), [len(entry) for entry in checks])
        flat = np.array([check for entry in checks for check in entry], np.int32)
        is_negative = flat < 0
        passed = self.holds(np.where(is_negative, ~flat, flat), rows[which]) != is_negative
        keep = np.bincount(which[~passed], minlength=nodes.size) == 0
        return nodes[keep], rows[keep]

    def _verify_rank(self, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]:
        nodes, rows = unique_pairs(nodes, rows, self.table.nodes)
        parents = self.table.parent[rows]
        parents = np.where(parents < 0, ~self.table.node_document[rows], parents)  # roots are nobody's siblings
        order = np.lexsort((rows, parents, nodes))
        nodes, rows, parents = nodes[order], rows[order], parents[order]
        is_new = np.append(True, (nodes[1:] != nodes[:-1]) | (parents[1:] != parents[:-1]))
        group = np.cumsum(is_new) - 1
        begins = np.flatnonzero(is_new)
        position = np.arange(nodes.size) - begins[group] + 1
        size = np.diff(np.append(begins, nodes.size))[group]
        keep = np.zeros(nodes.size, bool)
        for node in np.unique(nodes).tolist():
            _, operator, number = cast(tuple[int, str, float | None], self._frozen.shared.detail[node])
            here = nodes == node
            keep[here] = HOLDS[operator](position[here], size[here] if number is None else number)
        return nodes[keep], rows[keep]

    def _verify_down(self, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]:
        details = np.array([self._frozen.shared.detail[node] for node in nodes.tolist()], np.int64).astype(np.int32)
        parents, tests, by_test = details[:, 0], details[:, 1], details[:, 2].astype(bool)
        edges = self._frozen.edge[nodes]
        up_at = np.flatnonzero(by_test)
        origin, above = self.up(edges[up_at], rows[up_at])
        reached = up_at[origin[self.holds(parents[up_at][origin], above)]]
        down_at = np.flatnonzero(~by_test)
        origin, below = self.below(edges[down_at], rows[down_at])
        origin = down_at[origin]
        tested = np.flatnonzero(tests[origin] != NOTHING)
        keep = np.ones(origin.size, bool)
        keep[tested] = self.holds(tests[origin[tested]], below[tested])
        origin, below = origin[keep], below[keep]
        return np.concatenate([nodes[reached], nodes[origin]]), np.concatenate([rows[reached], below])

    def _verify_linked(self, nodes: Ints) -> tuple[Ints, Ints]:
        found = []
        for node in np.unique(nodes).tolist():
            rows = linked_holds(self, cast(Linked, self._frozen.shared.detail[node]))
            found.append((np.full(rows.size, node, np.int32), rows))
        return np.concatenate([entry for entry, _ in found]), np.concatenate([rows for _, rows in found])
