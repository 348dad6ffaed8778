"""The witnesses of a document in, its nodes by variable, value and edge out, each when somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.joins.match.state import Held
from weft.joins.match.value_sets import ValueSet


class Bindings:
    """The witnesses of one document, to look nodes up; what no query asks for costs nothing, however much it is."""

    def __init__(self, held: Held) -> None:
        columns, rows, edges = held.witnesses, slice(*held.rows), slice(*held.edges)
        self._variable, self._node, self._value = columns.variable[rows], columns.node[rows], columns.value[rows]
        self._edge, self._above, self._below = columns.edge[edges], columns.above[edges], columns.below[edges]
        self._nodes: dict[int, list[int]] = {}
        self._values: dict[int, dict[int, int]] = {}
        self._valued: dict[int, dict[int, list[int]]] = {}
        self._lower: dict[int, dict[int, list[int]]] = {}
        self._pairs: dict[int, set[tuple[int, int]]] = {}
        self._upper: dict[int, dict[int, list[int]]] = {}
        self._sets: dict[tuple[int, int, int], ValueSet] = {}

    def nodes(self, variable: int) -> list[int]:
        """The nodes of a variable."""
        if variable not in self._nodes:
            self._nodes[variable] = self._node[self._rows(variable)].tolist()
        return self._nodes[variable]

    def values(self, variable: int) -> dict[int, int]:
        """The values of a variable's nodes."""
        if variable not in self._values:
            values = self._value[self._rows(variable)].tolist()
            self._values[variable] = dict(zip(self.nodes(variable), values, strict=True))
        return self._values[variable]

    def valued(self, variable: int, value: int) -> list[int]:
        """The nodes of a variable that have a value."""
        if variable not in self._valued:
            made = self._valued[variable] = {}
            for node, each in self.values(variable).items():
                made.setdefault(each, []).append(node)
        return self._valued[variable].get(value, []) if value >= 0 else []

    def below(self, edge: int, above: int) -> list[int]:
        """The nodes that an edge leads to from a node."""
        if edge not in self._lower:
            made = self._lower[edge] = {}
            rows = self._edge == edge
            for upper, lower in zip(self._above[rows].tolist(), self._below[rows].tolist(), strict=True):
                made.setdefault(upper, []).append(lower)
        return self._lower[edge].get(above, [])

    def above(self, edge: int, below: int) -> list[int]:
        """The nodes from which an edge leads to a node."""
        if edge not in self._upper:
            made = self._upper[edge] = {}
            rows = self._edge == edge
            for upper, lower in zip(self._above[rows].tolist(), self._below[rows].tolist(), strict=True):
                made.setdefault(lower, []).append(upper)
        return self._upper[edge].get(below, [])

    def set_of(self, variable: int) -> ValueSet:
        """The values of all nodes of a variable."""
        return self.set_below(-1, -1, variable, self.nodes(variable))

    def set_below(self, edge: int, above: int, variable: int, nodes: Sequence[int]) -> ValueSet:
        """The values of the nodes that an edge leads to from a node, or without an edge of all of a variable."""
        key = edge, above, variable
        found = self._sets.get(key)
        if found is None:
            values = self.values(variable)
            found = self._sets[key] = ValueSet.of(values[node] for node in nodes)
        return found

    def is_below(self, edge: int, above: int, below: int) -> bool:
        """Whether an edge leads from one node to another."""
        if edge not in self._pairs:
            rows = self._edge == edge
            self._pairs[edge] = set(zip(self._above[rows].tolist(), self._below[rows].tolist(), strict=True))
        return (above, below) in self._pairs[edge]

    def _rows(self, variable: int) -> slice:
        return slice(*np.searchsorted(self._variable, [variable, variable + 1]).tolist())
