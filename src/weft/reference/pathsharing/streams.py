"""A batch and paths in, their streams of path-tuples out: the paper's path matching engine, tuple for tuple.

A stream has a column for each step, and a row for each way in which a path matches: a node that is matched in two ways
is there twice. Rows are in the order of the last column. Each path's stream is made once a batch, whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.columns.integers import Ints, expand
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.engine.paths.bounds import Bounds
from weft.engine.paths.labels import LabelPaths
from weft.engine.paths.states import ROOT, States
from weft.plans.plan import Path, Step

_MOST_WAYS = 100_000
_BYTES = 300  # that what is kept for a label path takes beside its numbers


@dataclass(slots=True)
class _Reached:
    """The paths that end at a label path, and the depths at which their steps can be, a row for each way."""

    states: frozenset[int]
    ways: dict[int, Ints] = field(default_factory=dict)


class PathMatcher:
    """All paths in one automaton; for a batch, the streams of those that are asked for."""

    def __init__(self, states: States, bounds: Bounds | None = None) -> None:
        self._states = states
        self._paths: dict[int, Path] = {}
        self.labels: LabelPaths[_Reached] = LabelPaths(states, self._make, bounds)

    def add(self, path: Path) -> int:
        """Take a path in; its number comes back."""
        state = self._states.extend(ROOT, path)
        if state not in self._paths:
            self._paths[state] = path
            self.labels.clear()
        return state

    def _make(self, _: int, reached: Ints) -> tuple[_Reached, int]:
        states = frozenset(state for state in reached.tolist() if state in self._paths)
        return _Reached(states), 64 * len(states) + _BYTES

    def ways(self, label: int, state: int) -> Ints:
        """The depths of a path's steps at a label path, one row for each way it matches."""
        ways = self.labels.plans[label].ways
        if state not in ways:
            names = self.labels.names_of(label)
            found = _ways(self._paths[state], names, self._states)
            ways[state] = np.array(found, np.int32).reshape(-1, len(self._paths[state]))
            self.labels.grow(label, ways[state].nbytes + _BYTES)
        return ways[state]


class Streams:
    """The streams of one batch."""

    def __init__(self, table: NodeTable, matcher: PathMatcher) -> None:
        self.table, self._matcher = table, matcher
        self.labels = matcher.labels.of(table)
        order = np.argsort(self.labels, kind="stable").astype(np.int32)
        present, starts = np.unique(self.labels[order], return_index=True)
        ends = np.append(starts[1:], order.size)
        self._rows: dict[int, list[tuple[int, Ints]]] = {}
        for label, start, end in zip(present.tolist(), starts.tolist(), ends.tolist(), strict=True):
            for state in matcher.labels.plans[label].states if label > 0 else ():
                self._rows.setdefault(state, []).append((label, order[start:end]))
        self._made: dict[int, Ints] = {}

    def tuples(self, state: int, steps: int) -> Ints:
        """The stream of a path: a column for each of its steps."""
        made = self._made.get(state)
        if made is None:
            parts = [self._at(label, state, rows) for label, rows in self._rows.get(state, [])]
            made = np.concatenate(parts) if parts else np.zeros((0, steps), np.int32)
            made = made[np.argsort(made[:, -1], kind="stable")] if len(parts) > 1 else made
            self._made[state] = made
        return made

    def _at(self, label: int, state: int, rows: Ints) -> Ints:
        ways = self._matcher.ways(label, state)
        which, way = expand(np.zeros(rows.size, np.int64), np.full(rows.size, len(ways)))
        nodes = rows[which]
        columns = [self.table.at_depth(nodes, ways[way, step]) for step in range(ways.shape[1] - 1)]
        return np.column_stack([*columns, nodes])


def _ways(path: Path, names: list[str], states: States) -> list[list[int]]:
    """All ways in which a path matches the names down to the last one, as depths."""
    passes = [[_passes(step, name, states) for name in names] for step in path]
    ways: list[list[int]] = [[]]
    for at, step in enumerate(path):
        last = at == len(path) - 1
        longer = []
        for way in ways:
            first = way[-1] if way else 0
            depths = range(first + 1, len(names) + 1) if step.deep else range(first + 1, min(first + 2, len(names) + 1))
            longer += [[*way, depth] for depth in depths if passes[at][depth - 1] and (depth == len(names)) >= last]
        ways = longer
        if len(ways) > _MOST_WAYS:
            raise MemoryError(f"more than {_MOST_WAYS} ways in which a path matches one node")
    return ways


def _passes(step: Step, name: str, states: States) -> bool:
    if step.kind is Kind.ELEMENT and step.label == "*":
        return name[0] != "@" and name != "text()"
    return states.symbol(step.label, step.kind) in states.symbols_of(name)
