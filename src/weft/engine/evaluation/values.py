"""Nodes with tests on their values in, the tests that they pass out: read in parts, and no more than can be read.

The values of elements that lie in elements are the same text again and again: a document of some megabytes can have
gigabytes of them. A comparison with texts needs no more of a value than the longest of these texts has, and what else
would be too much to read is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.table import NodeTable
from weft.engine.evaluation.refusals import Refusals
from weft.engine.shared.comparisons import Reading
from weft.engine.shared.constants import Patterns
from weft.engine.shared.effort import TOO_DEAR, Effort
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlan

_AT_ONCE = 1 << 24  # characters that are held
_MOST_READ = 1 << 28  # characters of one document that are read: some seconds


class Values:
    """The tests on values of a batch; `place` is that of a row's label plan."""

    def __init__(self, table: NodeTable, frozen: Frozen, plans: list[LabelPlan], refusals: Refusals) -> None:
        self._table, self._frozen, self._plans, self._refusals = table, frozen, plans, refusals
        self._efforts: defaultdict[int, Effort] = defaultdict(Effort)  # by document

    def passed(self, place: Longs, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
        """(test, row) for all tests that rows pass."""
        if self._table.most_characters(rows) <= _AT_ONCE:
            yield from self._probe(self._plans, place, rows, self._table.string_values(rows))
        else:
            with_texts, others = zip(*map(_divided, self._plans), strict=True)
            yield from self._in_parts(with_texts, place, rows, self._frozen.comparisons.longest + 1)
            yield from self._in_parts(others, place, rows, None)
        for document, effort in self._efforts.items():
            if effort.given_up:
                self._refusals.refuse(document, np.array(sorted(effort.given_up), np.int32), TOO_DEAR)

    def _in_parts(
        self, plans: tuple[LabelPlan, ...], place: Longs, rows: Ints, longest: int | None
    ) -> Iterator[tuple[Ints, Ints]]:
        """The tests that rows pass by the beginnings of their values, or by all of them."""
        tested = np.array([plan.has_tests for plan in plans], bool)[place]
        place, rows = place[tested], rows[tested]
        sizes = self._table.characters(rows)
        if longest is not None:
            sizes = np.minimum(sizes, longest)
        times = np.array([max(len(plan.texts), 1) for plan in plans])  # that a value is read
        keep = self._affordable(plans, place, rows, sizes * times[place])
        place, rows = place[keep], rows[keep]
        part = np.cumsum(sizes[keep]) // _AT_ONCE
        for each in np.unique(part).tolist():
            here = part == each
            yield from self._probe(plans, place[here], rows[here], self._table.string_values(rows[here], longest))

    def _affordable(self, plans: tuple[LabelPlan, ...], place: Longs, rows: Ints, weights: Longs) -> Longs:
        """The rows that can be read, by document those of the label paths with the least to read first."""
        keys, inverse = np.unique(self._table.node_document[rows] * np.int64(len(plans)) + place, return_inverse=True)
        sums = np.bincount(inverse, weights).astype(np.int64)
        refused = np.zeros(keys.size, bool)
        documents = keys // len(plans)
        for at in np.unique(documents).tolist():
            here = np.flatnonzero(documents == at)
            here = here[np.argsort(sums[here], kind="stable")]
            beyond = here[np.cumsum(sums[here]) > _MOST_READ]
            refused[beyond] = True
            tests = [plans[each].tests() for each in (keys[beyond] % len(plans)).tolist()]
            reason = f"values of {int(sums[here].sum())} characters to read, more than {_MOST_READ}"
            self._refusals.refuse(at, np.unique(np.concatenate([np.zeros(0, np.int32), *tests])), reason)
        return np.flatnonzero(~refused[inverse])

    def _probe(
        self, plans: list[LabelPlan] | tuple[LabelPlan, ...], place: Longs, rows: Ints, values: list[str]
    ) -> Iterator[tuple[Ints, Ints]]:
        runs = [plan.comparisons for plan in plans]
        for at, tests in self._frozen.comparisons.probe(runs, place, values):
            yield tests, rows[at]
        if self._frozen.texts:
            yield self._probe_texts(plans, place, rows, values)

    def _probe_texts(
        self, plans: list[LabelPlan] | tuple[LabelPlan, ...], place: Longs, rows: Ints, values: list[str]
    ) -> tuple[Ints, Ints]:
        found: list[int] = []
        counts: list[int] = []
        indexes = [plan.texts for plan in plans]
        documents = self._table.node_document[rows].tolist()
        for at, value, document in zip(place.tolist(), values, documents, strict=True):
            before = len(found)
            for index in indexes[at]:
                for passed in (
                    index.probe(value, self._efforts[document]) if isinstance(index, Patterns) else index.probe(value)
                ):
                    found += passed
            counts.append(len(found) - before)
        return np.array(found, np.int32), np.repeat(rows, counts)


def _divided(plan: LabelPlan) -> tuple[LabelPlan, LabelPlan]:
    """The comparisons with texts, to which the beginning of a value is enough, and all other tests."""
    runs = plan.comparisons.items()
    with_texts = {family: run for family, run in runs if family[1] is Reading.TEXT}
    others = {family: run for family, run in runs if family[1] is not Reading.TEXT}
    return LabelPlan(comparisons=with_texts), LabelPlan(comparisons=others, texts=plan.texts)
