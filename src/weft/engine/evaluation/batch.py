"""A node table and its label paths in, the rows of each label path with what is to be done there out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints, Longs, expand
from weft.columns.kept import kept_property
from weft.documents.table import NodeTable
from weft.engine.evaluation.machine_tests import MachineTests
from weft.engine.evaluation.readings import Readings, RefuseValue
from weft.engine.evaluation.refusals import Refusals
from weft.engine.formulas.batch_formulas import BatchFormulas
from weft.engine.profile import Profile
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.kernel.evaluator import Evaluator
from weft.kernel.row_heap import TooMuchError

_FEW_STEPS = 20_000_000  # that a batch may take, whatever it is: about half a second
_STEPS_A_NODE = 200


class LabelledBatch:
    """One batch beside one shared plan."""

    def __init__(self, table: NodeTable, plans: LabelPlans, frozen: Frozen, profile: Profile) -> None:
        self.profile = profile
        with profile("PME"):
            self._names = plans.paths.codes(table)
            labels = plans.labels(table, self._names)
        self.table, self.labels, self._plans, self._frozen = table, labels, plans, frozen
        self._paths = plans.paths.kernel
        self.refusals = Refusals(table)
        self._machine_facts: tuple[Ints, Ints] | None = None

    @kept_property
    def order(self) -> Ints:
        """The rows by their label paths."""
        return np.argsort(self.labels, kind="stable").astype(np.int32)

    @kept_property
    def _present(self) -> tuple[Ints, Longs]:
        sorted_labels = self.labels[self.order]
        first = int(np.searchsorted(sorted_labels, 0))
        present, starts = np.unique(sorted_labels[first:], return_index=True)
        return present, np.append(starts + first, sorted_labels.size)

    @property
    def present(self) -> Ints:
        """The label paths that there are."""
        return self._present[0]

    @property
    def starts(self) -> Longs:
        """Where the rows of each of these begin in `order`."""
        return self._present[1]

    @kept_property
    def result_pairs(self) -> tuple[Ints, Ints]:
        """The results that label paths alone give, each with each of its nodes."""
        results, numbers = self._paths.results_of(np.ascontiguousarray(self.present))
        return self._with_rows(np.repeat(np.arange(self.present.size), numbers), results)

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

    @property
    def evaluator(self) -> Evaluator:
        """The compiled evaluation, begun with this batch."""
        evaluator, plans = self._plans.evaluator, self._plans
        if not plans.is_begun_with(self):
            readings = Readings(self.table, self._frozen, plans, self._refuser(), self.formulas)
            steps = _FEW_STEPS + _STEPS_A_NODE * self.table.nodes
            evaluator.begin(readings, readings.columns(self._names, self.labels), steps)
            plans.begun_with(self)
        return evaluator

    @kept_property
    def formulas(self) -> BatchFormulas:
        """What formulas make of the batch's rows."""
        return BatchFormulas(self.table, self._frozen.shared.derivations, self._frozen.works)

    @property
    def machine_facts(self) -> tuple[Ints, Ints]:
        """The tests that machines of Python's find to be passed, each with its row; in the order of documents."""
        if self._machine_facts is None:
            self._machine_facts = self._probe()
        return self._machine_facts

    def _probe(self) -> tuple[Ints, Ints]:
        machines, tested = self.evaluator.probe()
        if not machines.size:
            return machines, tested
        tests = MachineTests(self.table, self._frozen.machines, self.refusals, self.formulas)
        nodes, rows = tests.passed(machines, tested)
        order = np.argsort(self.table.node_document[rows], kind="stable")
        return nodes[order], rows[order]

    def brought_up(self) -> tuple[Ints, Ints]:
        """The nodes of the shared plan that label paths and values bring up, each with its row."""
        found, at = self.machine_facts
        nodes, rows = self.evaluator.brought_up()
        return np.concatenate([nodes, found]), np.concatenate([rows, at])

    def _refuser(self) -> RefuseValue:
        """What becomes of a value that is too much to be read: here the batch is done in the other way.

        It must not hold this, or both would keep each other and the batch alive.
        """
        return _too_much


def _too_much(_: int, __: int) -> float:
    raise TooMuchError
