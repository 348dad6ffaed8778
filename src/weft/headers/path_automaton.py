"""Paths by number in, the nodes of a batch that they lead to out: one automaton for all, with one step a node.

Its states are sets of states of the NFA, made when documents first need them, and its names are classes: names that
pass the same label tests are one. So after the first documents a batch is one compiled loop over the node table.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from weft.columns.integers import Ints, expand
from weft.documents.table import NodeTable
from weft.engine.paths.states import ROOT, States
from weft.kernel import follow
from weft.plans.names import TEXT_NAME
from weft.plans.plan import Path

_DEAD, _START = 0, 1  # states: nothing can come of it, and that of a document's root
_UNKNOWN = -1  # a step that was not taken yet
_MOST_CELLS = 1 << 20  # of the table of steps


class TooManyStatesError(Exception):
    """The automaton would be larger than it may be."""


class PathAutomaton:
    """Paths, by number."""

    def __init__(self, paths: Mapping[int, Path], most_cells: int = _MOST_CELLS) -> None:
        self._states, self._most = States(), most_cells
        self._numbers: dict[int, list[int]] = {}  # by state of the NFA: the paths that end there
        for number, path in paths.items():
            self._numbers.setdefault(self._states.extend(ROOT, path), []).append(number)
        self._classes: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._names: list[str] = []  # one of each class
        self._known = {frozenset[int](): _DEAD}
        self._active: list[Ints] = [np.zeros(0, np.int32)]
        self._ends: list[Ints] = [np.zeros(0, np.int32)]  # by state: the paths that end there
        self._ragged: tuple[Ints, Ints] | None = None
        self._steps = np.full((8, 8), _UNKNOWN, np.int32)
        self._state_of(self._states.start())

    def __len__(self) -> int:
        return len(self._active)

    def select(self, table: NodeTable) -> tuple[Ints, Ints]:
        """(path, node), by nodes; raises TooManyStatesError where documents need more states than there may be."""
        names = self._classes_of(table)
        states = np.full(names.size + 1, _START, np.int32)  # the parent of a root is -1, and so the last entry here
        row = self._follow(table.parent, names, states, 0)
        while row < names.size:
            self._step(int(states[table.parent[row]]), int(names[row]))
            row = self._follow(table.parent, names, states, row)
        starts, numbers = self._ends_by_state()
        has_ends = starts[1:] > starts[:-1]
        nodes = np.flatnonzero(has_ends[states[:-1]]).astype(np.int32)
        reached = states[nodes]
        which, inside = expand(starts[reached], starts[reached + 1])
        return numbers[inside], nodes[which]

    def _follow(self, parents: Ints, names: Ints, states: Ints, row: int) -> int:
        return follow(self._steps.ravel(), self._steps.shape[1], parents, names, states, row)

    def _classes_of(self, table: NodeTable) -> Ints:
        """The classes of the names of all nodes that some path may lead to."""
        states = self._states
        classes = np.zeros(len(table.names), np.int32)
        classes[table.element_names] = [self._class(table.names[at]) for at in table.element_names]
        elements = classes[table.name]
        if not (states.has_attributes or states.has_texts):
            return elements
        classes[table.attribute_names] = [self._class(f"@{table.names[at]}") for at in table.attribute_names]
        attributes = classes[table.attribute_name]
        if not states.has_texts:
            return np.concatenate([elements, attributes])
        texts = np.full(table.nodes - table.first_text, self._class(TEXT_NAME), np.int32)
        return np.concatenate([elements, attributes, texts])

    def _class(self, name: str) -> int:
        key = (
            name[0] != "@" and name != TEXT_NAME,
            self._states.symbols_of(name),
        )  # elements pass `*`, the others do not
        known = self._classes.get(key)
        if known is None:
            known = self._classes[key] = len(self._names)
            self._names.append(name)
            self._grow()
        return known

    def _step(self, state: int, name: int) -> None:
        """Take a step for the first time."""
        active = self._active[state]
        reached = self._states.reach(active, self._names[name])
        self._steps[state, name] = self._state_of(self._states.activate(active, reached))

    def _state_of(self, active: Ints) -> int:
        """The state with these active states of the NFA: those just reached, which are where paths end, and loops."""
        key = frozenset(active.tolist())
        state = self._known.get(key)
        if state is None:
            state = self._known[key] = len(self)
            self._active.append(np.array(sorted(key), np.int32))
            self._ends.append(
                np.array([number for at in sorted(key) for number in self._numbers.get(at, ())], np.int32)
            )
            self._ragged = None
            self._grow()
        return state

    def _grow(self) -> None:
        """Make room for all states and names."""
        height, width = self._steps.shape
        if len(self) <= height and len(self._names) <= width:
            return
        height, width = (max(size, 2 * needed) for size, needed in ((height, len(self)), (width, len(self._names))))
        if height * width > self._most:
            raise TooManyStatesError
        steps = np.full((height, width), _UNKNOWN, np.int32)
        steps[: self._steps.shape[0], : self._steps.shape[1]] = self._steps
        self._steps = steps

    def _ends_by_state(self) -> tuple[Ints, Ints]:
        """Where each state's paths begin, and the paths."""
        if self._ragged is None:
            starts = np.append(0, np.cumsum([each.size for each in self._ends])).astype(np.int32)
            self._ragged = starts, np.concatenate(self._ends)
        return self._ragged
