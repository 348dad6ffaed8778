"""What holds for a batch in, which subscriptions match which documents, and with which nodes, out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any, TypeAlias

import numpy as np

from weft.documents.columns import Ints, Longs, spans, unique_pairs
from weft.engine.evaluate import Evaluation
from weft.engine.targets import Targets

#: A result, or an operation on several: `except` and `intersect` are worked out node by node.
Compound: TypeAlias = "int | tuple[str, tuple[Compound, ...]]"
_SET_OPERATIONS: dict[str, Callable[[Ints, Ints], Any]] = {
    "union": np.union1d,
    "intersect": np.intersect1d,
    "except": np.setdiff1d,
}


class Outcome:
    """The answer to a batch: results first, subscriptions as late as possible."""

    def __init__(
        self,
        evaluation: Evaluation,
        found: tuple[Ints, Ints],
        targets: Targets,
        compounds: dict[int, Compound],
    ) -> None:
        self._evaluation, self._targets, self._compounds = evaluation, targets, compounds
        self._table = evaluation.table
        self._found = found
        self._size = len(targets)

    def subscriptions(self) -> list[Ints]:
        """For each document the subscriptions that match it, sorted."""
        per_document = self._plain_results()
        result, node = self._found
        document, result = unique_pairs(self._table.node_document[node], result, max(self._size, 1))
        starts, ends = spans(document.astype(np.int64), np.arange(len(self._table.documents)))
        marks = np.zeros(self._size, bool)
        matched = []
        for at, plain in enumerate(per_document):
            if plain:
                marks[np.concatenate(plain)] = True
            marks[result[starts[at] : ends[at]]] = True
            hits = np.flatnonzero(marks).astype(np.int32)
            marks[hits] = False
            subscriptions = self._targets.of(hits)
            if subscriptions.size > 1:
                subscriptions = subscriptions[np.append(True, subscriptions[1:] != subscriptions[:-1])]
            matched.append(subscriptions)
        return self._with_compounds(matched)

    def nodes(self) -> tuple[Ints, Ints, Ints]:
        """(document, subscription, node), sorted by document, then subscription, then document order."""
        result, node = self._all_pairs
        at, subscription = self._targets.pairs(result)
        node = node[at]
        for compound, nodes in self._compound_nodes:
            subscription = np.append(subscription, np.full(nodes.size, compound, np.int32))
            node = np.append(node, nodes)
        subscription, node = unique_pairs(subscription, node, max(self._table.nodes, 1))
        document = self._table.node_document[node]
        order = np.lexsort((self._table.order[node], subscription, document))
        return document[order], subscription[order], node[order]

    def _plain_results(self) -> list[list[Ints]]:
        """For each document the results that its label paths alone give."""
        results = [plan.results for plan in self._evaluation.plans]
        has_results = np.array([some.size > 0 for some in results], bool)
        document, place = self._evaluation.label_places()
        useful = has_results[place]
        plain: list[list[Ints]] = [[] for _ in self._table.documents]
        for at, some in zip(document[useful].tolist(), place[useful].tolist(), strict=True):
            plain[at].append(results[some])
        return plain

    @cached_property
    def _all_pairs(self) -> tuple[Ints, Ints]:
        """Every (result, node) there is."""
        evaluation = self._evaluation
        useful = [at for at, plan in enumerate(evaluation.plans) if plan.results.size]
        result, node = evaluation.spread(useful, [evaluation.plans[at].results for at in useful])
        return np.concatenate([result, self._found[0]]), np.concatenate([node, self._found[1]])

    @cached_property
    def _compound_nodes(self) -> list[tuple[int, Ints]]:
        """The nodes of the subscriptions that subtract or intersect."""
        if not self._compounds:
            return []
        result, node = self._all_pairs
        order = np.lexsort((node, result))
        sorted_results: Longs = result[order].astype(np.int64)
        sorted_nodes = node[order]

        def nodes_of(compound: Compound) -> Ints:
            if isinstance(compound, int):
                start, end = spans(sorted_results, np.array([compound]))
                return sorted_nodes[start[0] : end[0]]
            operator, parts = compound
            return np.asarray(reduce(_SET_OPERATIONS[operator], map(nodes_of, parts)), np.int32)

        return [(subscription, nodes_of(compound)) for subscription, compound in self._compounds.items()]

    def _with_compounds(self, matched: list[Ints]) -> list[Ints]:
        for subscription, nodes in self._compound_nodes:
            for document in np.unique(self._table.node_document[nodes]).tolist():
                matched[document] = np.sort(np.append(matched[document], np.int32(subscription)))
        return matched
