"""Paths by number in, the one node of each document that each leads to out: an automaton for all, with one step a node.

Its states are sets of states of the NFA, made when documents first need them, and its names are classes: names that
pass the same label tests are one. So after the first documents the kernel follows it along the columns of the node
table, and looks at nothing that is below a name where no path goes on.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from weft.columns.integers import Ints
from weft.documents.names import NameTable
from weft.documents.table import NodeTable
from weft.engine.paths.states import ROOT, States
from weft.headers.document_bounds import END_ATTRIBUTE, END_TEXT, FIRST_ATTRIBUTE, FIRST_TEXT
from weft.kernel import follow
from weft.plans.names import TEXT_NAME
from weft.plans.plan import Path

_DEAD = 0  # the state of which nothing can come; that of a document's root is made first, and is 1
_UNKNOWN = -1  # a step that was not taken yet, or a class that was not asked for
_MOST_CELLS = 1 << 20  # of the table of steps


class TooManyStatesError(Exception):
    """The automaton would be larger than it may be."""


@dataclass(frozen=True, slots=True)
class _NameClasses:
    """The classes of a name table's names, as far as they were asked for: those of elements, and of attributes."""

    elements: array[int]
    attributes: array[int]


class PathAutomaton:
    """Paths, by number. Several threads may use it: what it learns, it learns one thing at a time."""

    def __init__(self, paths: Mapping[int, Path], most_cells: int = _MOST_CELLS) -> None:
        self._states, self._most, self._lock = States(), most_cells, Lock()
        self._numbers: dict[int, list[int]] = {}  # by state of the NFA: the paths that end there
        for number, path in paths.items():
            self._numbers.setdefault(self._states.extend(ROOT, path), []).append(number)
        self._classes: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._names: list[str] = []  # one of each class
        self._of_names: WeakKeyDictionary[NameTable, _NameClasses] = WeakKeyDictionary()
        self._known = {frozenset[int](): _DEAD}
        self._active: list[Ints] = [np.zeros(0, np.int32)]
        self._end_start, self._ends = array("i", [0, 0]), array("i")  # by state: the paths that end there
        self._take(np.full((8, 8), _UNKNOWN, np.int32))
        self._of_texts = array("i", [self._class(TEXT_NAME)])
        self._state_of(self._states.start())

    def __len__(self) -> int:
        return len(self._active)

    def select(self, table: NodeTable, bounds: Ints, nodes: Ints) -> None:
        """Put into `nodes`, by document and path, the one node, or SEVERAL; what is ABSENT stays.

        `bounds` are those of some documents of the table, and `nodes` has a row for each of these. Raises
        TooManyStatesError where they need more states than there may be.
        """
        names = self._of_names.get(table.name_table)
        if names is None:
            names = self._of_names[table.name_table] = _NameClasses(array("i"), array("i"))
        within, found = self._looked_at(bounds), nodes.ravel()
        columns = table.parent, table.last, table.name, table.attribute_name
        states = np.zeros(table.elements, np.int32)
        stop: tuple[int, int] | None = (0, 0)
        while stop is not None:
            flat, width = self._flat
            automaton = flat, self._end_start, self._ends, names.elements, names.attributes, self._of_texts
            stop = follow(automaton, width, columns, within, states, found, *stop)
            if stop is not None:
                at, owner = stop[1], table.parent[stop[1]]
                with self._lock:
                    self._learn(table, names, at, int(states[owner]) if owner >= 0 else 1)

    def _looked_at(self, bounds: Ints) -> Ints:
        """The bounds, one behind the other, without attributes, and without texts, where no path leads to any."""
        kept = bounds.flatten()
        if not self._states.has_attributes:
            kept[END_ATTRIBUTE::6] = kept[FIRST_ATTRIBUTE::6]
        if not self._states.has_texts:
            kept[END_TEXT::6] = kept[FIRST_TEXT::6]
        return kept

    def _learn(self, table: NodeTable, names: _NameClasses, node: int, before: int) -> None:
        """What the kernel must know to pass a node: the class of its name, or the step from the state before it."""
        if node < table.elements:
            known, name, prefix = names.elements, int(table.name[node]), ""
        elif node < table.first_text:
            known, name, prefix = names.attributes, int(table.attribute_name[node - table.elements]), "@"
        else:
            known, name, prefix = self._of_texts, 0, ""
        if name >= len(known):
            known.extend([_UNKNOWN] * (len(table.names) - len(known)))
        if known[name] == _UNKNOWN:
            known[name] = self._class(f"{prefix}{table.names[name]}")
        if self._steps[before, known[name]] == _UNKNOWN:
            self._step(before, known[name])

    def _class(self, name: str) -> int:
        is_element = name[0] != "@" and name != TEXT_NAME  # these pass `*`, the others do not
        key = is_element, self._states.symbols_of(name)
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
            self._ends.extend(number for at in sorted(key) for number in self._numbers.get(at, ()))
            self._end_start.append(len(self._ends))
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
        self._take(steps)

    def _take(self, steps: Ints) -> None:
        self._steps, self._flat = steps, (steps.ravel(), steps.shape[1])
