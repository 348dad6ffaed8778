"""A batch in, the nodes of patterns by their label paths out: the automaton of one query, run once for a label path."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.documents.kind import Kind
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.engine.paths.bounds import Bounds
from weft.engine.paths.labels import LabelPaths
from weft.engine.paths.states import ROOT, States
from weft.optimizer.pattern_tree import PatternTree
from weft.plans.plan import Step


class PatternAutomaton:
    """All patterns of a tree, from the root of a document; which of them are in is asked of it, it never changes.

    With `is_below` the elements are not roots, but children of one.
    """

    def __init__(self, tree: PatternTree, bounds: Bounds | None = None, *, is_below: bool = False) -> None:
        self._states = States()
        above = (*([Step("*")] if is_below else []), Step(tree.label or "*"))
        ends = [
            self._states.extend(ROOT, (*above, *tree.full_path(number))) if pattern.is_required else ROOT
            for number, pattern in enumerate(tree.patterns)
        ]
        result_of_state = np.full(len(self._states), -1, np.int32)
        distinct = sorted(set(ends) - {ROOT})
        result_of_state[distinct] = np.arange(len(distinct), dtype=np.int32)
        self._result = result_of_state[ends] if ends else np.zeros(0, np.int32)
        self._paths: LabelPaths[None] = LabelPaths(self._states, lambda _, __: (None, 0), bounds)
        self._paths.begin(result_of_state, np.zeros(len(self._states), bool))
        self._kinds = [tree.full_path(number)[-1].kind for number in range(len(tree.patterns))]
        self._ending: list[list[int]] = [[] for _ in distinct]  # by result its label paths
        self._known = 1
        self._mark = 1

    @property
    def kinds(self) -> dict[str, bool]:
        """Whether some path leads to attributes, and to texts."""
        return {"attributes": self._states.has_attributes, "texts": self._states.has_texts}

    def labels(self, batch: NodeTable | DocumentPaths) -> Ints:
        """The label path of every node, or of every path of names; those of the batch before may be forgotten."""
        self._paths.finish_batch(self._mark)
        self._mark = len(self._paths)
        found = self._paths.of(batch) if isinstance(batch, NodeTable) else self._paths.of_paths(batch)
        self._learn()
        return found

    def _learn(self) -> None:
        """What ends at the label paths that are new."""
        if len(self._paths) < self._known or self._mark < self._known:
            self._known = min(self._mark, len(self._paths))
            self._ending = [[path for path in paths if path < self._known] for paths in self._ending]
        for path in range(self._known, len(self._paths)):
            for result in self._paths.results_at(path).tolist():
                self._ending[result].append(path)
        self._known = len(self._paths)

    def located(self, pattern: int, labels: Ints) -> Flags:
        """At which label paths a pattern ends."""
        paths = self._ending[int(self._result[pattern])]
        if len(paths) == 1:
            return np.equal(labels, paths[0])
        flags = np.zeros(len(self._paths) + 1, bool)  # -1, where no path asks for any, is the last entry
        flags[paths] = True
        return np.asarray(flags[labels])

    def nodes(self, pattern: int, table: NodeTable, labels: Ints) -> Ints:
        """TokenNav and Extract: the nodes of a pattern in a batch, ascending."""
        bounds = {
            Kind.ELEMENT: (0, table.elements),
            Kind.ATTRIBUTE: (table.elements, table.first_text),
            Kind.TEXT: (table.first_text, table.nodes),
        }
        first, end = bounds[self._kinds[pattern]]
        return (np.flatnonzero(self.located(pattern, labels[first:end])) + first).astype(np.int32)
