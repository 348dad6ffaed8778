"""A node table and the shared plan in, the results that hold out: all queries at once, as columns of integers.

A *fact* is a pair (node of the shared plan, node of the document). Facts come up height by height; the facts of one
height bring up candidates of greater height through their dependents, and a candidate becomes a fact when its other
parts hold too. Nothing is looked at that no fact has brought up.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs, contains, expand, unique_pairs
from weft.documents.table import NodeTable
from weft.engine.evaluation.kinds import Kinds
from weft.engine.evaluation.navigate import Navigation
from weft.engine.evaluation.refusals import Refusals
from weft.engine.evaluation.values import Values
from weft.engine.profile import Profile
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlan, LabelPlans
from weft.engine.shared.plan import NodeKind


class Evaluation:
    """One batch against one shared plan."""

    def __init__(
        self, table: NodeTable, labels: Ints, plans: LabelPlans, frozen: Frozen, profile: Profile | None = None
    ) -> None:
        self.profile = profile or Profile()
        self.table, self.labels, self._plans, self._frozen = table, labels, plans, frozen
        self.order = np.argsort(labels, kind="stable").astype(np.int32)
        sorted_labels = labels[self.order]
        first = int(np.searchsorted(sorted_labels, 0))
        self.present, starts = np.unique(sorted_labels[first:], return_index=True)
        self.starts = np.append(starts + first, labels.size)
        all_plans = plans.paths.plans
        self.plans: list[LabelPlan] = [all_plans[label] for label in self.present.tolist()]
        self.navigation = Navigation(table, labels, plans, frozen)
        self.refusals = Refusals(table)
        self._facts: list[Longs] = []
        self._waiting: dict[int, list[tuple[Ints, Ints]]] = {}
        self._results: list[tuple[Ints, Ints]] = []

    @property
    def _kinds(self) -> Kinds:
        """How nodes come to hold. Made when asked for: kept, it and this would keep each other and the batch alive."""
        return Kinds(self.table, self.navigation, self._frozen, self.holds)

    def run(self) -> tuple[Ints, Ints]:
        """The results that the shared plan's nodes give, as (result, document node)."""
        if self._frozen.tallest >= 0:
            with self.profile("Selection"):
                self._begin()
            for height in range(self._frozen.tallest + 1):
                with self.profile("Join"):
                    self._rise(height)
        if not self._results:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        return (
            np.concatenate([result for result, _ in self._results]),
            np.concatenate([row for _, row in self._results]),
        )

    def label_places(self) -> tuple[Ints, Ints]:
        """The label paths that each document has, as distinct (document, place in `present`)."""
        places = np.repeat(np.arange(self.present.size, dtype=np.int32), np.diff(self.starts))
        documents = self.table.node_document[self.order[self.starts[0] :]]
        return unique_pairs(documents, places, max(self.present.size, 1))

    # -- facts

    def _begin(self) -> None:
        """What the label paths and the values bring up."""
        busy = [at for at, plan in enumerate(self.plans) if plan.nodes.size]
        self._wait(*self.spread(busy, [self.plans[at].nodes for at in busy]))
        tested = [at for at, plan in enumerate(self.plans) if plan.has_tests]
        if not tested:
            return
        places = np.array(tested)
        place, inside = expand(self.starts[places], self.starts[places + 1])
        rows = self.order[inside]
        values = Values(self.table, self._frozen, [self.plans[at] for at in tested], self.refusals)
        for tests, passing in values.passed(place, rows):
            self._wait(tests, passing)

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
            verify = partial(self._kinds.verify, NodeKind(kind))
            facts.append(self.refusals.in_parts(verify, nodes[here], rows[here]))
        nodes, rows = unique_pairs(
            np.concatenate([nodes for nodes, _ in facts]), np.concatenate([rows for _, rows in facts]), self.table.nodes
        )
        if not nodes.size:
            return
        self._facts.append(nodes * np.int64(self.table.nodes) + rows)
        results = self._frozen.result_of_node[nodes]
        if (is_result := results >= 0).any():
            self._results.append((results[is_result], rows[is_result]))
        which, dependents = self._frozen.dependents.of(nodes)
        self._wait(dependents, rows[which])

    def holds(self, nodes: Ints, rows: Ints) -> Flags:
        """Which of these are facts. An EXISTS that drives nothing is looked up by its edge."""
        result = np.zeros(nodes.size, bool)
        exists = self._frozen.kind[nodes] == NodeKind.EXISTS
        facts = np.flatnonzero(~exists)
        keys = nodes[facts] * np.int64(self.table.nodes) + rows[facts]
        for known in self._facts:
            result[facts] |= contains(known, keys)
        looked_up = np.flatnonzero(exists)
        if looked_up.size:
            result[looked_up] = self._kinds.exists(self._frozen.edge[nodes[looked_up]], rows[looked_up])
        return result
