"""Rows and a step in, the nodes that it leads to out: along the columns of a node table, from few rows or from many."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import MOST, Flags, Ints, Longs, expand
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.plans.names import TEXT_NAME, name_forms, passes
from weft.plans.plan import Label, Path, Step

_DEAR = 16  # times as long as comparing a name takes it to go to a node below a given row


class StepNames:
    """Which numbers of a name table pass a label test; what is found out stays for as long as the name table does."""

    def __init__(self) -> None:
        self._names: list[str] = []  # those of the name table that is known
        self._passing: dict[tuple[Label, Kind], list[int]] = {}
        self._seen: dict[tuple[Label, Kind], int] = {}

    def passing(self, table: NodeTable, step: Step) -> list[int]:
        """The names that pass the test of a step for elements, or for attributes."""
        if table.names is not self._names:
            self._names, self._passing, self._seen = table.names, {}, {}
        key = step.label, step.kind
        found = self._passing.setdefault(key, [])
        for number in range(self._seen.get(key, 0), len(table.names)):
            if passes_step(step, f"@{table.names[number]}" if step.kind is Kind.ATTRIBUTE else table.names[number]):
                found.append(number)
        self._seen[key] = len(table.names)
        return found


def passes_step(step: Step, name: str) -> bool:
    """Whether a name, of an attribute behind `@`, is one that a step is for."""
    if step.kind is Kind.TEXT:
        return name == TEXT_NAME
    if step.kind is Kind.ATTRIBUTE:
        return name[0] == "@" and f"@{step.label}" in name_forms(name)
    return passes(step.label, name)


class Navigator:
    """The ways down in one node table."""

    def __init__(self, table: NodeTable, names: StepNames | None = None) -> None:
        self.table = table
        self._names = names or StepNames()
        self._place: Ints | None = None  # by row its place among those that a step begins at

    def path(self, rows: Ints, path: Path) -> tuple[Ints, Ints]:
        """(row, node) for all that a path leads to from ascending rows, each pair once and in order."""
        above, at = rows, rows
        for number, step in enumerate(path):
            if number:
                at, back = np.unique(at, return_inverse=True)
                origin, reached = self.step(at, step)
                # Only the first step may be deep, so a node is reached in one way from each row that it began at.
                order = np.argsort(back, kind="stable")
                starts = np.searchsorted(back[order], np.arange(at.size + 1))
                which, inside = expand(starts[origin], starts[origin + 1])
                above, at = above[order[inside]], reached[which]
            else:
                origin, at = self.step(rows, step)
                above = rows[origin]
        if above.size > 1 and ((above[1:] < above[:-1]) | ((above[1:] == above[:-1]) & (at[1:] < at[:-1]))).any():
            order = np.lexsort((at, above))
            above, at = above[order], at[order]
        return above, at

    def step(self, rows: Ints, step: Step) -> tuple[Longs, Ints]:
        """(place among the ascending rows, node) for all that a step leads to from elements."""
        none = np.zeros(0, np.int64), np.zeros(0, np.int32)
        if not rows.size or rows[0] >= self.table.elements:  # attributes and texts have nothing below them
            return none
        if step.kind is Kind.ELEMENT and not step.deep and self._below(rows) * _DEAR < self.table.elements:
            return self._children_of_few(rows, step)
        nodes = self._named(step)
        if not nodes.size:
            return none
        if not step.deep:
            place = self._places(rows)[self.table.parent[nodes]]
            kept = place >= 0
            found = place[kept].astype(np.int64), nodes[kept]
            self._forget(rows)
            return found
        return self.inside(rows, nodes, step.kind)

    def inside(self, rows: Ints, nodes: Ints, kind: Kind) -> tuple[Longs, Ints]:
        """(place among the ascending rows, node) for all of the ascending nodes below the rows.

        Attributes and texts are also below the element that they are of.
        """
        table = self.table
        if kind is Kind.TEXT:
            starts = np.searchsorted(nodes, table.text_first[rows] + table.first_text)
            ends = np.searchsorted(nodes, table.text_last[rows] + table.first_text)
        else:
            owners = nodes if kind is Kind.ELEMENT else table.parent[nodes]
            starts = np.searchsorted(owners, rows, side="right" if kind is Kind.ELEMENT else "left")
            ends = np.searchsorted(owners, table.last[rows], side="right")
        which, inside = expand(starts, np.maximum(ends, starts), MOST)
        return which, nodes[inside]

    def _below(self, rows: Ints) -> int:
        return int((self.table.last[rows] - rows).sum())

    def _children_of_few(self, rows: Ints, step: Step) -> tuple[Longs, Ints]:
        """Where all that is below the rows is little, only that is looked at."""
        table = self.table
        which, below = expand(rows + np.int64(1), table.last[rows] + np.int64(1))
        kept = np.flatnonzero(table.parent[below] == rows[which])
        kept = kept[self._is_named(table.name[below[kept]], step)]
        return which[kept], below[kept].astype(np.int32)

    def _named(self, step: Step) -> Ints:
        """All nodes of the batch that pass the test of a step."""
        table = self.table
        if step.kind is Kind.TEXT:
            return np.arange(table.first_text, table.nodes, dtype=np.int32)
        is_element = step.kind is Kind.ELEMENT
        names, first = (table.name, 0) if is_element else (table.attribute_name, table.elements)
        return (np.flatnonzero(self._is_named(names, step)) + first).astype(np.int32)

    def _is_named(self, names: Ints, step: Step) -> Flags:
        passing = self._names.passing(self.table, step)
        if len(passing) == 1:
            return np.equal(names, passing[0])
        if not passing:
            return np.zeros(names.size, bool)
        flags = np.zeros(len(self.table.names), bool)
        flags[passing] = True
        return np.asarray(flags[names])

    def _places(self, rows: Ints) -> Ints:
        if self._place is None:
            self._place = np.full(self.table.elements + 1, -1, np.int32)  # the parent of a root is -1: the last entry
        self._place[rows] = np.arange(rows.size, dtype=np.int32)
        return self._place

    def _forget(self, rows: Ints) -> None:
        assert self._place is not None, "places are forgotten after they were made"
        self._place[rows] = -1
