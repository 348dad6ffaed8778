"""A node table and the shared plan in, the results that hold out: what drives comes up, all else is asked from there.

The work is done by `weft.kernel.evaluator`. A batch that would take it too many steps (elements nested very deep, with
paths of several `//`) is done by the thorough evaluation instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.documents.table import NodeTable
from weft.engine.evaluation.batch import LabelledBatch
from weft.engine.evaluation.navigate import Navigation
from weft.engine.evaluation.thorough import ThoroughEvaluation
from weft.engine.profile import Profile
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.kernel.ways import TooMuchError


class Evaluation(LabelledBatch):
    """One batch against one shared plan; `thorough` does it in the other way."""

    def __init__(
        self,
        table: NodeTable,
        labels: Ints,
        plans: LabelPlans,
        frozen: Frozen,
        profile: Profile,
        thorough: Callable[[], ThoroughEvaluation],
    ) -> None:
        super().__init__(table, labels, plans, frozen, profile)
        self._make_thorough = thorough
        self._thorough: ThoroughEvaluation | None = None

    def run(self) -> tuple[Ints, Ints]:
        """The results that the shared plan's nodes give, as (result, document node)."""
        none = np.zeros(0, np.int32)
        if self._frozen.tallest < 0:
            return none, none
        with self.profile("Selection"):
            try:
                nodes, rows = self.brought_up()
            except TooMuchError:
                return self._instead().found
        if not nodes.size:
            return none, none
        with self.profile("Join"):
            try:
                self.evaluator.remember(nodes[self._is_probed(nodes)], rows[self._is_probed(nodes)])
                results, rows = self.evaluator.rise(nodes, rows)
            except TooMuchError:
                return self._instead().found
        return results, rows

    def holds(self, nodes: Ints, rows: Ints) -> Flags:
        """Which of these are facts."""
        if self._thorough is None:
            try:
                return np.asarray(self.evaluator.hold(nodes.astype(np.int32), rows.astype(np.int32)), bool)
            except TooMuchError:
                self._instead()
        assert self._thorough is not None
        return self._thorough.holds(nodes, rows)

    @cached_property
    def navigation(self) -> Navigation:
        """The ways along edges, for columns of rows."""
        return Navigation(self.table, self.labels, self._plans, self._frozen)

    def _is_probed(self, nodes: Ints) -> Flags:
        return np.asarray(self._frozen.is_probed[nodes], bool)

    def _instead(self) -> ThoroughEvaluation:
        if self._thorough is None:
            self._thorough = self._make_thorough()
            self.refusals.reasons |= self._thorough.refusals.reasons
        return self._thorough
