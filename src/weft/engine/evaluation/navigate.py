"""Edges and rows in, the rows at their other ends out: up by label paths, down by walking the node table.

Where only the rows matter, not which leads to which, and the pairs would be very many, `sweep` finds them.
"""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, contains, distinct, expand
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.engine.evaluation.sweep import Sweep
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.plans.names import TEXT_NAME

_LABELS = np.int64(2**32)
_FEW_PAIRS = 1 << 16  # pairs that are made whatever the batch is
_MOST_PAIRS = 1 << 23  # that are made at once


class Navigation:
    """The two ways along an edge, in one batch."""

    def __init__(self, table: NodeTable, labels: Ints, plans: LabelPlans | None, frozen: Frozen) -> None:
        self._table, self._labels, self._plans, self._frozen = table, labels, plans, frozen
        symbols_of = frozen.shared.states.symbols_of
        self._names = len(table.names)
        names = [(table.names[at], at) for at in table.element_names]
        if frozen.shared.states.names_attributes:
            names += [("@" + table.names[at], at) for at in table.attribute_names]
        passed = [(symbol + 1) * self._names + at for name, at in names for symbol in symbols_of(name)]
        passed += (*table.element_names, *table.attribute_names)  # symbol -1 is `*`
        self._passed = np.unique(np.array(passed, np.int64))
        self._text_symbol = next(iter(symbols_of(TEXT_NAME)), -2)

    @property
    def sweep(self) -> Sweep:
        """The way by sets. Made when asked for: kept, it and this would keep each other, and the batch, alive."""
        return Sweep(self._table, self._keep)

    def up(self, edges: Ints, rows: Ints) -> tuple[Longs, Ints]:
        """Where edges that end at rows can begin: (position in the input, row), each once."""
        ups = self._frozen.edges.up[edges]
        shallow = np.flatnonzero(ups)
        targets = self._table.ancestors(rows[shallow], ups[shallow])
        if shallow.size == edges.size:
            return shallow, targets
        deep = np.flatnonzero(ups == 0)
        starts, ends, depths = self._depths(edges[deep], rows[deep])
        which, inside = expand(starts, ends, _MOST_PAIRS)
        origin = deep[which]
        begins = self._table.at_depth(rows[origin], depths[inside])
        return np.concatenate([shallow, origin]), np.concatenate([targets, begins])

    def _depths(self, edges: Ints, rows: Ints) -> tuple[Longs, Longs, Ints]:
        """The depths at which deep edges that end at rows can begin, as ranges of the column that comes last."""
        keys, inverse = np.unique(edges * _LABELS + self._labels[rows], return_inverse=True)
        assert self._plans is not None, "only label plans know where deep edges begin"
        depths = [self._plans.depths(key & 0xFFFFFFFF, key >> 32) for key in keys.tolist()]
        sizes = np.array([entry.size for entry in depths], np.int64)
        ends = np.cumsum(sizes)
        return (ends - sizes)[inverse], ends[inverse], np.concatenate([np.zeros(0, np.int32), *depths])

    def steps(self, edge: int) -> list[int]:
        """The steps of an edge, from the top down."""
        entries = self._frozen.edges.steps
        steps: list[int] = entries.entries[entries.starts[edge] : entries.starts[edge + 1]].tolist()
        return steps

    # -- rows alone, of groups of rows: whichever row of a group leads there

    def is_wide_above(self, groups: Ints, edges: Ints, rows: Ints) -> Flags:
        """Which entries are of groups that have so many pairs above them that a sweep is cheaper."""
        deep = np.flatnonzero(self._frozen.edges.up[edges] == 0)
        starts, ends, _ = self._depths(edges[deep], rows[deep])
        return self._is_wide(groups, deep, ends - starts)

    def is_wide_below(self, groups: Ints, edges: Ints, rows: Ints) -> Flags:
        """Which entries are of groups that have so many pairs below them that a sweep is cheaper."""
        deep = np.flatnonzero((self._frozen.edges.up[edges] == 0) & (rows < self._table.elements))
        above = rows[deep]
        table = self._table
        sizes = (table.last[above] - above).astype(np.int64) + table.text_last[above] - table.text_first[above]
        return self._is_wide(groups, deep, sizes)

    def _is_wide(self, groups: Ints, deep: Longs, sizes: Longs) -> Flags:
        most = 4 * self._table.nodes + _FEW_PAIRS
        if int(sizes.sum()) <= most:
            return np.zeros(groups.size, bool)
        _, inverse = np.unique(groups, return_inverse=True)
        return np.asarray((np.bincount(inverse[deep], sizes, groups.size) > most)[inverse])

    def above(self, edge: int, rows: Ints) -> Ints:
        """Where an edge that ends at some of the rows can begin, each row once."""
        assert self._plans is not None, "only label plans know where deep edges begin"
        found = self.sweep.above(self.steps(edge), rows)
        labels, inverse = np.unique(self._labels[found], return_inverse=True)
        begins = np.array([self._plans.can_begin(label, edge) for label in labels.tolist()], bool)
        return np.asarray(found[begins[inverse]], np.int32)

    def below(self, edge: int, rows: Ints) -> Ints:
        """Where an edge that begins at some of the rows ends, each row once."""
        return self.sweep.below(self.steps(edge), rows)

    def down(self, edges: Ints, rows: Ints) -> tuple[Longs, Ints]:
        """Where edges that begin at rows end: (position in the input, row), each once, in document order."""
        frozen, table = self._frozen, self._table
        starts, lengths = frozen.edges.steps.starts[edges], frozen.edges.length[edges]
        origin, at = np.arange(edges.size), rows
        done: list[tuple[Longs, Ints]] = []
        for number in range(int(lengths.max(initial=0))):
            steps = frozen.edges.steps.entries[starts[origin] + number]
            origin, at = self._step(origin, at, steps)
            if number:  # a node may be reached in more than one way
                keys = distinct(origin * np.int64(table.nodes) + at)
                origin, at = keys // table.nodes, (keys % table.nodes).astype(np.int32)
            ends = lengths[origin] == number + 1
            done.append((origin[ends], at[ends]))
            origin, at = origin[~ends], at[~ends]
        origin = np.concatenate([entry for entry, _ in done]) if done else origin
        at = np.concatenate([entry for _, entry in done]) if done else at
        order = np.argsort(origin, kind="stable")
        return origin[order], at[order]

    def _step(self, origin: Longs, rows: Ints, steps: Ints) -> tuple[Longs, Ints]:
        found = []
        forms = steps % 8
        for form in np.unique(forms).tolist():
            here = np.flatnonzero(forms == form)
            kind, is_deep = Kind(form // 2), bool(form % 2)
            which, nodes = self._table.reach(rows[here], kind, is_deep)
            symbols = steps[here][which] // 8 - 1
            keep = self._keep(kind, nodes, symbols)
            found.append((origin[here[which[keep]]], nodes[keep]))
        if not found:
            return origin[:0], rows[:0]
        return np.concatenate([entry for entry, _ in found]), np.concatenate([entry for _, entry in found])

    def _keep(self, kind: Kind, nodes: Ints, symbols: Ints) -> Flags:
        if kind is Kind.TEXT:
            return np.equal(symbols, self._text_symbol)
        table = self._table
        name = table.name[nodes] if kind is Kind.ELEMENT else table.attribute_name[nodes - table.elements]
        return contains(self._passed, (symbols + np.int64(1)) * self._names + name)
