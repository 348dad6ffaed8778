"""A batch in, what formulas make of its rows out: each is worked out once for a row, whoever asks."""

from __future__ import annotations

from typing import Any

from weft.columns.kept import kept_property
from weft.documents.table import NodeTable
from weft.engine.formulas.derived_index import DerivedIndex, read_as
from weft.engine.formulas.node_view import NamesPassing, NodeView, Work
from weft.engine.formulas.worked_out import work_of
from weft.engine.shared.comparisons import Reading
from weft.engine.shared.effort import TOO_DEAR, Effort
from weft.engine.shared.node_tables import DerivedTests
from weft.plans.comparisons import HOLDS, holds
from weft.plans.formulas import Formula, type_of
from weft.plans.plan import Value
from weft.plans.regex import LonePattern


class Works(dict[int, Work]):
    """How the formulas of a plan are worked out, by their numbers; made when they are first asked for."""

    def __init__(self, derived: DerivedTests) -> None:
        super().__init__()
        self._derived = derived
        self.formulas: list[Formula] = []
        self.passing: NamesPassing | None = None

    def __missing__(self, number: int) -> Work:
        if number >= len(self.formulas):
            self.formulas = list(self._derived.formulas)
        found = self[number] = work_of(self.formulas[number])
        return found

    def passing_of(self, table: NodeTable) -> NamesPassing:
        """Which names pass label tests, kept as long as batches have the same names."""
        passing = self.passing
        if passing is None or passing.names is not table.name_table:
            passing = self.passing = NamesPassing(table.name_table)
        return passing


class BatchFormulas:
    """The formulas of one plan over one batch."""

    def __init__(self, table: NodeTable, derived: DerivedTests, works: Works) -> None:
        self._table, self._derived, self._works = table, derived, works
        self._values: dict[tuple[int, int], Any] = {}
        self._members: dict[tuple[int, int], frozenset[int]] = {}

    @kept_property
    def _view(self) -> NodeView:
        """The nodes, for who asks: most batches have no formulas."""
        return NodeView(self._table, self._works.passing_of(self._table))

    def value(self, formula: int, row: int) -> Any:
        """What a formula makes of a row; raises TooManyVisitsError where that is more than it may look at."""
        key = formula, row
        if key not in self._values:
            work = self._works[formula]
            self._view.begin(formula, row)
            try:
                self._values[key] = work(self._view, row, 1, 1)
            finally:
                self._view.finish()
        return self._values[key]

    def members(self, formula: int, row: int) -> frozenset[int]:
        """The nodes that a formula selects in the document of a row."""
        key = formula, self._view.documents[row]
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = frozenset(self.value(formula, row))
        return found

    def passed(self, index: DerivedIndex, row: int, effort: Effort) -> list[int]:
        """The nodes of an index that hold at a row."""
        if index.members:
            return index.members if row in self.members(index.formula, row) else []
        value, kind = self.value(index.formula, row), type_of(self._works.formulas[index.formula])

        def values(reading: Reading) -> list[Any]:
            if value is None:
                return []
            if kind == "nodes":
                return [read_as(reading, "text", self._view.string(node)) for node in value]
            return [read_as(reading, kind, value)]

        found = index.passed(values, effort)
        return [*found, *index.truths] if index.truths and value else found

    def passes(self, at: int, row: int) -> bool:
        """Whether a row passes a test, by its place among those on formulas."""
        formula, goal = self._derived.formula[at], self._derived.goal[at]
        if self._derived.is_member[at]:
            return row in self.members(formula, row)
        value = self.value(formula, row)
        if goal is None or value is None:
            return bool(value)
        kind = type_of(self._works.formulas[formula])
        values = [self._view.string(node) for node in value] if kind == "nodes" else [value]
        return any(_passes(goal, each) for each in values)


def _passes(goal: Value, value: str | float) -> bool:
    if isinstance(value, float):
        return bool(HOLDS[goal.operator](value, goal.constant))
    if goal.operator != "matches":
        return holds(goal, value)
    found = Effort().search(LonePattern(str(goal.constant)), value)
    if found is None:
        raise MemoryError(TOO_DEAR)
    return bool(found)
