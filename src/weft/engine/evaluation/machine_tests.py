"""Nodes, each with a machine of tests on parts of texts, in, the tests that they pass out.

The values of elements that lie in elements are the same text again and again: a document of some megabytes can have
gigabytes of them. They are read in parts, and what would be too much to read is refused.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.table import NodeTable
from weft.engine.evaluation.refusals import Refusals
from weft.engine.formulas.batch_formulas import BatchFormulas
from weft.engine.formulas.derived_index import DerivedIndex
from weft.engine.formulas.node_view import TOO_MANY_VISITS, TooManyVisitsError
from weft.engine.shared.constants import Patterns, TextIndex
from weft.engine.shared.effort import TOO_DEAR, Effort

_AT_ONCE = 1 << 24  # characters that are held
_MOST_READ = 1 << 28  # characters of one document that are read: some seconds


class MachineTests:
    """The tests on parts of texts of a batch."""

    def __init__(
        self, table: NodeTable, machines: list[TextIndex | DerivedIndex], refusals: Refusals, formulas: BatchFormulas
    ) -> None:
        self._table, self._machines, self._refusals, self._formulas = table, machines, refusals, formulas
        self._efforts: defaultdict[int, Effort] = defaultdict(Effort)  # by document

    def passed(self, machines: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """(test, row) for all tests that rows pass, each row by the machine beside it."""
        is_derived = np.array([isinstance(machine, DerivedIndex) for machine in self._machines], bool)[machines]
        derived = self._worked_out(machines[is_derived], rows[is_derived])
        machines, rows = machines[~is_derived], rows[~is_derived]
        parts = [np.arange(rows.size)]
        if self._table.most_characters(rows) > _AT_ONCE:
            sizes = self._table.lengths(rows)
            keep = self._affordable(machines, rows, sizes)
            part = np.cumsum(sizes[keep]) // _AT_ONCE
            parts = [keep[part == each] for each in np.unique(part).tolist()]
        none = np.zeros(0, np.int32)
        found = [(none, none), derived, *(self._probe(machines[part], rows[part]) for part in parts)]
        for document, effort in self._efforts.items():
            if effort.given_up:
                self._refusals.refuse(document, np.array(sorted(effort.given_up), np.int32), TOO_DEAR)
        return np.concatenate([tests for tests, _ in found]), np.concatenate([at for _, at in found])

    def _affordable(self, machines: Ints, rows: Ints, sizes: Longs) -> Longs:
        """The places that can be read, by document those of the machines with the least to read first."""
        number = len(self._machines)
        keys, inverse = np.unique(self._table.node_document[rows] * np.int64(number) + machines, return_inverse=True)
        sums = np.bincount(inverse, sizes).astype(np.int64)
        refused = np.zeros(keys.size, bool)
        documents = keys // number
        for document in np.unique(documents).tolist():
            here = np.flatnonzero(documents == document)
            here = here[np.argsort(sums[here], kind="stable")]
            beyond = here[np.cumsum(sums[here]) > _MOST_READ]
            refused[beyond] = True
            tests = [test for each in (keys[beyond] % number).tolist() for test in self._machines[each].tests]
            reason = f"values of {int(sums[here].sum())} characters to read, more than {_MOST_READ}"
            self._refusals.refuse(document, np.array(sorted(tests), np.int32), reason)
        return np.flatnonzero(~refused[inverse])

    def _worked_out(self, machines: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """The tests on formulas that rows pass."""
        found: list[int] = []
        at: list[int] = []
        for which, row in zip(machines.tolist(), rows.tolist(), strict=True):
            index = self._machines[which]
            assert isinstance(index, DerivedIndex), "values of nodes are looked up elsewhere"
            document = int(self._table.node_document[row])
            try:
                passed = self._formulas.passed(index, row, self._efforts[document])
            except TooManyVisitsError:
                self._refusals.refuse(document, np.array(index.tests, np.int32), TOO_MANY_VISITS)
                continue
            found += passed
            at += [row] * len(passed)
        return np.array(found, np.int32), np.array(at, np.int32)

    def _probe(self, machines: Ints, rows: Ints) -> tuple[Ints, Ints]:
        distinct, place = np.unique(rows, return_inverse=True)
        values = self._table.string_values(distinct)
        documents = self._table.node_document[rows].tolist()
        found: list[int] = []
        counts: list[int] = []
        for which, at, document in zip(machines.tolist(), place.tolist(), documents, strict=True):
            before, machine = len(found), self._machines[which]
            assert not isinstance(machine, DerivedIndex), "what formulas make is looked up elsewhere"
            is_dear = isinstance(machine, Patterns)
            for passed in machine.probe(values[at], self._efforts[document]) if is_dear else machine.probe(values[at]):
                found += passed
            counts.append(len(found) - before)
        return np.array(found, np.int32), np.repeat(rows, counts)
