"""A node table and the shared plan in, the results that hold out: what drives comes up, all else is asked from there.

The work is done by `weft.kernel.evaluator`. A batch that would take it too many steps (elements nested very deep, with
paths of several `//`) is done by the thorough evaluation instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, unique_pairs
from weft.columns.kept import kept_property
from weft.documents.table import NodeTable
from weft.engine.evaluation.batch import LabelledBatch
from weft.engine.evaluation.navigate import Navigation
from weft.engine.evaluation.thorough import ThoroughEvaluation
from weft.engine.profile import Profile
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.kernel.evaluator import Evaluator
from weft.kernel.row_heap import TooMuchError
from weft.kernel.subscribers import Subscribers


class Evaluation(LabelledBatch):
    """One batch against one shared plan; `thorough` does it in the other way."""

    def __init__(
        self,
        table: NodeTable,
        plans: LabelPlans,
        frozen: Frozen,
        profile: Profile,
        thorough: Callable[[], ThoroughEvaluation],
    ) -> None:
        super().__init__(table, plans, frozen, profile)
        self._make_thorough = thorough
        self._thorough: ThoroughEvaluation | None = None
        # Not cached properties: until Python 3.12 these hold one lock for all batches while they are worked out.
        self._found: tuple[Ints, Ints] | None = None
        self._matched: tuple[Ints, Ints] | None = None

    @property
    def found(self) -> tuple[Ints, Ints]:
        """The results that the shared plan's nodes give, as (result, document node)."""
        if self._found is None:
            self._found = self._risen(whether=False)
        return self._found

    @property
    def matched(self) -> tuple[Ints, Ints]:
        """The same as (document, result), each once: less is looked at where nobody asks for nodes."""
        if self._matched is None:
            self._matched = self._match()
        return self._matched

    def _match(self) -> tuple[Ints, Ints]:
        if self._found is None:
            result, document = self._risen(whether=True)
            if self._thorough is None:
                return document, result
            self._found = result, document  # nodes, after all
        result, node = self._found
        return unique_pairs(self.table.node_document[node], result, max(self._frozen.results, 1))

    def results(self, subscribers: Subscribers | None = None) -> tuple[Ints, Longs]:
        """The results of all documents, one after the other, and where each one's begin; or who wants them."""
        return self._paths.results(self.labels, self.table.ranges, *self.matched, subscribers)

    def _risen(self, whether: bool) -> tuple[Ints, Ints]:
        none = np.zeros(0, np.int32)
        if self._frozen.tallest < 0:
            return none, none
        if self._thorough is None:
            try:
                return self._rise(whether)
            except TooMuchError:
                pass
        return self._instead().found

    def _rise(self, whether: bool) -> tuple[Ints, Ints]:
        with self.profile("Selection"):
            nodes, rows = self.machine_facts
            starts = np.searchsorted(self.table.node_document[rows], np.arange(len(self.table.documents) + 1))
            evaluator = self._probed()
        with self.profile("Join"):
            return evaluator.rise(nodes, rows, starts, whether)

    def _probed(self) -> Evaluator:
        """The compiled evaluation, which knows what values bring up in this batch."""
        is_probed, evaluator = self._plans.is_begun_with(self), self.evaluator
        if not is_probed:  # another batch came in between
            evaluator.probe()
        return evaluator

    def holds(self, nodes: Ints, rows: Ints) -> Flags:
        """Which of these are facts."""
        if self._thorough is None:
            try:
                evaluator = self._probed()
                evaluator.remember(*self.machine_facts)
                return np.asarray(evaluator.hold(nodes.astype(np.int32), rows.astype(np.int32)), bool)
            except TooMuchError:
                self._instead()
        assert self._thorough is not None
        return self._thorough.holds(nodes, rows)

    @kept_property
    def navigation(self) -> Navigation:
        """The ways along edges, for columns of rows."""
        return Navigation(self.table, self.labels, self._plans, self._frozen)

    def _instead(self) -> ThoroughEvaluation:
        if self._thorough is None:
            self._thorough = self._make_thorough()
            self.refusals.reasons |= self._thorough.refusals.reasons
        return self._thorough
