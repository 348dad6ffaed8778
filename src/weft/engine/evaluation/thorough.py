"""A node table and the shared plan in, the results that hold out: all queries at once, as columns of integers.

Every node of the shared plan comes up, height by height, whether anything asks for it or not: so the work is bounded by
the columns, whatever the document. It is the way for batches in which going from candidates would take too many steps.
A candidate becomes a fact when its other parts hold too.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, contains, unique_pairs
from weft.columns.kept import kept_property
from weft.engine.evaluation.batch import LabelledBatch
from weft.engine.evaluation.kinds import Kinds
from weft.engine.evaluation.navigate import Navigation
from weft.engine.evaluation.readings import RefuseValue
from weft.engine.formulas.node_view import TOO_MANY_VISITS, TooManyVisitsError
from weft.engine.shared.nodes import NodeKind


class NotBesideError(Exception):
    """A batch cannot be answered beside others: it is to be answered alone."""


class ThoroughEvaluation(LabelledBatch):
    """One batch against one shared plan that was frozen to be thorough."""

    @kept_property
    def navigation(self) -> Navigation:
        """The ways along edges."""
        return Navigation(self.table, self.labels, self._plans, self._frozen)

    @property
    def _kinds(self) -> Kinds:
        """How nodes come to hold. Made when asked for: kept, it and this would keep each other and the batch alive."""
        return Kinds(self.table, self.navigation, self._frozen, self.holds)

    def run(self) -> tuple[Ints, Ints]:
        """The results that the shared plan's nodes give, as (result, document node)."""
        self._facts: list[Longs] = []
        self._waiting: dict[int, list[tuple[Ints, Ints]]] = {}
        self._results: list[tuple[Ints, Ints]] = []
        if self._frozen.tallest >= 0:
            with self.profile("Selection"):
                self._wait(*self.brought_up())
            for height in range(self._frozen.tallest + 1):
                with self.profile("Join"):
                    self._rise(height)
        none = np.zeros(0, np.int32)
        self.found = (
            np.concatenate([none, *(result for result, _ in self._results)]),
            np.concatenate([none, *(row for _, row in self._results)]),
        )
        return self.found

    def _refuser(self) -> RefuseValue:
        lists, labels, documents, refusals = self._plans.lists, self.labels, self.table.node_document, self.refusals

        def refuse(row: int, characters: int) -> float:
            """What compares a value that is too much to be read as a number is not known."""
            reason = f"values of {characters} characters to read as numbers, more than are read"
            refusals.refuse(int(documents[row]), lists.comparisons_at(int(labels[row])), reason)
            return np.nan

        return refuse

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

    def _derives(self, node: int, row: int) -> bool:
        """Whether a DERIVED holds at a row; where that takes too much it is not known for the document."""
        try:
            return self.formulas.passes(self._frozen.shared.nodes.row[node], row)
        except TooManyVisitsError:
            self.refusals.refuse(int(self.table.node_document[row]), np.array([node], np.int32), TOO_MANY_VISITS)
            return False

    def holds(self, nodes: Ints, rows: Ints) -> Flags:
        """Which of these are facts. An EXISTS that drives nothing is looked up by its edge, a DERIVED worked out."""
        result = np.zeros(nodes.size, bool)
        exists = self._frozen.kind[nodes] == NodeKind.EXISTS
        derived = self._frozen.kind[nodes] == NodeKind.DERIVED
        for at in np.flatnonzero(derived).tolist():
            result[at] = self._derives(int(nodes[at]), int(rows[at]))
        facts = np.flatnonzero(~exists & ~derived)
        keys = nodes[facts] * np.int64(self.table.nodes) + rows[facts]
        for known in self._facts:
            result[facts] |= contains(known, keys)
        looked_up = np.flatnonzero(exists)
        if looked_up.size:
            result[looked_up] = self._kinds.exists(self._frozen.edge[nodes[looked_up]], rows[looked_up])
        return result
