"""What the compiled evaluation asks Python for: a batch's columns, and values, names and depths one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.columns.integers import Ints
from weft.documents.table import NodeTable
from weft.engine.evaluation.linked import passes_value
from weft.engine.formulas.batch_formulas import BatchFormulas
from weft.engine.formulas.node_view import TooManyVisitsError
from weft.engine.shared.comparisons import INSTANTS, READ, Reading
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.kernel.row_heap import TooMuchError
from weft.plans.names import passes

_MOST_READ = 1 << 24  # characters of values, beyond which they are not read one by one

#: A row whose value is too much to be read, with all characters so far, in, what it counts as out.
RefuseValue = Callable[[int, int], float]


class Readings:
    """The batch, as the compiled evaluation sees it."""

    def __init__(
        self, table: NodeTable, frozen: Frozen, plans: LabelPlans, refuse: RefuseValue, formulas: BatchFormulas
    ) -> None:
        self._table, self._frozen, self._plans, self._refuse = table, frozen, plans, refuse
        self._formulas = formulas
        self._read = 0

    def columns(self, names: Ints, labels: Ints) -> dict[str, Any]:
        """The node table's columns, with the codes of names and the label paths."""
        table, states = self._table, self._frozen.shared.states
        symbol_start, symbols, name_masks = self._plans.paths.symbols()
        return {
            "elements": table.elements,
            "first_text": table.first_text,
            "nodes": table.nodes,
            "parents": table.parent,
            "last": table.last,
            "depth": table.depth,
            "names": names,
            "labels": labels,
            "text_first": table.text_first,
            "text_last": table.text_last,
            "has_texts": states.has_texts,
            "symbol_start": symbol_start,
            "symbols": symbols,
            "name_masks": name_masks,
            "ranges": table.ranges,
            "characters": table.characters,
            "text_begin": table.text_start,
            "attribute_characters": table.attribute_characters,
            "attribute_begin": table.attribute_value_start,
        }

    # -- one by one

    def number(self, row: int) -> float:
        """A node's value as XPath's number."""
        return READ[Reading.NUMBER](self._value(row)) if self._has_room(row) else self._refuse(row, self._read)

    def double(self, row: int) -> float:
        """A node's value as XQuery's double."""
        return READ[Reading.DOUBLE](self._value(row)) if self._has_room(row) else self._refuse(row, self._read)

    def instant(self, row: int) -> tuple[int, float]:
        """As what instant a node's value is read, and its number among the constants; as a text if it is none."""
        if not self._has_room(row):
            return Reading.TEXT, self._refuse(row, self._read)
        place, number = self._frozen.comparisons.instants.read(self._value(row))
        return (INSTANTS[place] if place >= 0 else Reading.TEXT), number

    def depths(self, path: int, edge: int) -> Ints:
        """The depths at which a deep edge that ends at a label path can begin."""
        return self._plans.depths(path, edge)

    def is_named(self, node: int, name: int) -> bool:
        """Whether a name, by its code, passes the label test of a NAMED node."""
        shared = self._frozen.shared
        return passes(shared.names.label[shared.nodes.row[node]], self._plans.paths.names[name])

    def passes_first(self, node: int, row: int) -> bool:
        """Whether the first node that links lead to passes the test of a LINKED node."""
        shared = self._frozen.shared
        goal = shared.linked.goal[shared.nodes.row[node]]
        if not self._has_room(row):
            raise TooMuchError
        return passes_value(goal.test, self._value(row)) != goal.fails

    def derives(self, node: int, row: int) -> bool:
        """Whether what a formula makes of a row passes the test of a DERIVED node."""
        try:
            return self._formulas.passes(self._frozen.shared.nodes.row[node], row)
        except TooManyVisitsError:
            raise TooMuchError from None  # who does it otherwise tells that it is refused

    def _has_room(self, row: int) -> bool:
        """Whether a value can still be read."""
        if row < self._table.elements:
            self._read += int(self._table.end[row] - self._table.start[row])  # more than the value has
        return self._read <= _MOST_READ

    def _value(self, row: int) -> str:
        return self._table.string_value(row)
