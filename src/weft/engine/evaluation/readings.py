"""What the compiled evaluation asks Python for: a batch's columns, and values, names and depths one by one."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from weft.columns.integers import Ints
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.engine.evaluation.linked import passes_value
from weft.engine.shared.comparisons import READ, Reading
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlan, LabelPlans
from weft.kernel.ways import TooMuchError
from weft.plans.names import passes
from weft.plans.plan import Label, Value

_MOST_READ = 1 << 24  # characters of values, beyond which they are not read one by one


class Readings:
    """The batch, as the compiled evaluation sees it."""

    def __init__(self, table: NodeTable, frozen: Frozen, plans: LabelPlans) -> None:
        self._table, self._frozen, self._plans = table, frozen, plans
        self._read = 0

    def columns(self, labels: Ints, present: Ints, plans: list[LabelPlan]) -> dict[str, Any]:
        """The node table's columns."""
        table, states = self._table, self._frozen.shared.states
        owners = table.parent[table.elements : table.first_text]
        text_start, text_nodes = np.zeros(table.elements + 1, np.int32), np.zeros(0, np.int32)
        if states.has_texts:
            starts, text_nodes = table.by_parent[Kind.TEXT]
            text_start = starts.astype(np.int32)
        names = self._plans.paths.codes(table)
        place_of_label = np.zeros(len(self._plans.paths), np.int32)
        place_of_label[present] = np.arange(present.size)
        symbol_start, symbols = self._plans.paths.symbols()
        return {
            "elements": table.elements,
            "first_text": table.first_text,
            "nodes": table.nodes,
            "parents": table.parent,
            "last": table.last,
            "depth": table.depth,
            "names": names,
            "labels": labels,
            "attribute_start": (np.searchsorted(owners, np.arange(table.elements + 1)) + table.elements).astype(
                np.int32
            ),
            "text_first": table.text_first,
            "text_last": table.text_last,
            "text_start": text_start,
            "text_nodes": text_nodes,
            "symbol_start": symbol_start,
            "symbols": symbols,
            "place_of_label": place_of_label,
            "context_start": np.cumsum([0, *(len(plan.contexts) for plan in plans)], dtype=np.int32),
            "contexts": np.concatenate([np.zeros(0, np.int32), *(plan.contexts for plan in plans)], dtype=np.int32),
        }

    # -- one by one

    def ranks(self, row: int) -> tuple[int, int]:
        """Where a node's value lies among the constants."""
        comparisons = self._frozen.comparisons
        return comparisons.ranks(self._value(row, comparisons.longest + 1))

    def number(self, row: int) -> float:
        """A node's value as XPath's number."""
        return READ[Reading.NUMBER](self._value(row))

    def double(self, row: int) -> float:
        """A node's value as XQuery's double."""
        return READ[Reading.DOUBLE](self._value(row))

    def depths(self, path: int, edge: int) -> Ints:
        """The depths at which a deep edge that ends at a label path can begin."""
        return self._plans.depths(path, edge)

    def is_named(self, node: int, name: int) -> bool:
        """Whether a name, by its code, passes the label test of a NAMED node."""
        return passes(cast(Label, self._frozen.shared.detail[node]), self._plans.paths.names[name])

    def passes_first(self, node: int, row: int) -> bool:
        """Whether the first node that links lead to passes the test of a LINKED node."""
        _, (asked, fails) = cast(tuple[object, tuple[Value, bool]], self._frozen.shared.detail[node])
        return passes_value(asked, self._value(row)) != fails

    def _value(self, row: int, longest: int | None = None) -> str:
        table = self._table
        if row < table.elements:
            size = int(table.end[row] - table.start[row])  # more than the value has
            self._read += size if longest is None else min(size, longest)
            if self._read > _MOST_READ:
                raise TooMuchError
            if longest is not None and size > longest:
                return table.string_values(np.array([row], np.int32), longest)[0]
        return table.string_value(row)
