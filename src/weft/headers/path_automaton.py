"""Paths by number in, the one node of each document that each leads to out: an automaton for all.

Its states are sets of states of the NFA, made when documents first need them, and its names are classes: names that
pass the same label tests are one. So after the first documents the kernel follows it by itself: along the paths of
names that a narrow scan found, whose states it keeps, or along the columns of a node table, with one step a node, and
looks at nothing that is below a name where no path goes on.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.kind import Kind
from weft.documents.names import NameTable
from weft.documents.scan import DocumentOffsets
from weft.documents.table import NodeTable
from weft.engine.paths.states import ROOT, States
from weft.headers.document_bounds import END_ATTRIBUTE, END_TEXT, FIRST_ATTRIBUTE, FIRST_TEXT
from weft.kernel import follow, follow_paths
from weft.plans.names import TEXT_NAME
from weft.plans.plan import Path

_DEAD, _START = 0, 1  # the state of which nothing can come; that above a document's root, which is made first
_UNKNOWN = -1  # a step that was not taken yet, or a class that was not asked for
_MOST_CELLS = 1 << 20  # of the table of steps


#: Columns of an automaton, as the kernel takes them: steps, where the paths that end in a state begin, and the paths;
#: classes of element names, of attribute names, of texts. All but the first grow where they are.
AutomatonColumns: TypeAlias = "tuple[Ints, array[int], array[int], array[int], array[int], array[int]]"


class TooManyStatesError(Exception):
    """The automaton would be larger than it may be."""


@dataclass(frozen=True, slots=True)
class _KnownNames:
    """The classes of a name table's names, as far as they were asked for: those of elements, and of attributes.

    And the states behind the paths of these names that narrow scans found.
    """

    elements: array[int] = field(default_factory=lambda: array("i"))
    attributes: array[int] = field(default_factory=lambda: array("i"))
    paths: array[int] = field(default_factory=lambda: array("i", [_START]))


class PathAutomaton:
    """Paths, by number. Several threads may use it: what it learns, it learns one thing at a time."""

    def __init__(self, paths: Mapping[int, Path], most_cells: int = _MOST_CELLS) -> None:
        self._states, self._most, self._lock = States(), most_cells, Lock()
        self._numbers: dict[int, list[int]] = {}  # by state of the NFA: the paths that end there
        for number, path in paths.items():
            self._numbers.setdefault(self._states.extend(ROOT, path), []).append(number)
        self._classes: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._names: list[str] = []  # one of each class
        self._of_names: WeakKeyDictionary[NameTable, _KnownNames] = WeakKeyDictionary()
        self._known = {frozenset[int](): _DEAD}
        self._active: list[Ints] = [np.zeros(0, np.int32)]
        self._end_start, self._ends = array("i", [0, 0]), array("i")  # by state: the paths that end there
        self._take(np.full((8, 8), _UNKNOWN, np.int32))
        self._of_texts = array("i", [self._class(TEXT_NAME)])
        self._state_of(self._states.start())

    def __len__(self) -> int:
        return len(self._active)

    @property
    def has_attributes(self) -> bool:
        """Whether some path leads to attributes."""
        return self._states.has_attributes

    @property
    def has_texts(self) -> bool:
        """Whether some path leads to texts."""
        return self._states.has_texts

    def select(self, table: NodeTable, bounds: Ints, nodes: Ints) -> None:
        """Put into `nodes`, by document and path, the one node, or SEVERAL; what is ABSENT stays.

        `bounds` are those of some documents of the table, and `nodes` has a row for each of these. Raises
        TooManyStatesError where they need more states than there may be.
        """
        names = self._known_of(table.name_table)
        within, found = self._looked_at(bounds), nodes.ravel()
        columns = table.parent, table.last, table.name, table.attribute_name
        states, at = np.zeros(table.elements, np.int32), (0, 0)
        while (stop := follow(*self._as_columns(names), columns, within, states, found, *at)) is not None:
            at, node, owner = stop, stop[1], int(table.parent[stop[1]])
            before = int(states[owner]) if owner >= 0 else _START
            if node < table.elements:
                self._learn(names, table.names, Kind.ELEMENT, int(table.name[node]), before)
            elif node < table.first_text:
                self._learn(
                    names, table.names, Kind.ATTRIBUTE, int(table.attribute_name[node - table.elements]), before
                )
            else:
                self._learn(names, table.names, Kind.TEXT, 0, before)

    def place(self, documents: DocumentOffsets, its: list[int], entries: Longs) -> None:
        """The same of some documents of a narrow scan: fill `entries` with offsets of nodes, ABSENT or SEVERAL."""
        names, paths = self._known_of(documents.names), documents.paths
        if len(names.paths) < len(paths):
            names.paths.extend([_UNKNOWN] * (len(paths) - len(names.paths)))
        columns, found = paths.columns(), (documents.found, documents.begins, documents.offsets)
        known, flat, at = names.paths, entries.ravel(), (0, 0)
        while (stop := follow_paths(*self._as_columns(names), columns, found, its, known, flat, *at)) is not None:
            at, path = stop, int(documents.found[stop[1]])
            code, name, is_attribute = paths.last_name(path)
            kind = Kind.ATTRIBUTE if is_attribute else Kind.ELEMENT if code else Kind.TEXT
            self._learn(names, documents.names.names, kind, name, known[paths.above(path)])

    def _known_of(self, table: NameTable) -> _KnownNames:
        """What is known of the names of a table, which one thread uses."""
        names = self._of_names.get(table)
        if names is None:
            names = self._of_names[table] = _KnownNames()
        return names

    def _as_columns(self, names: _KnownNames) -> tuple[AutomatonColumns, int]:
        """The automaton as the kernel takes it."""
        flat, width = self._flat
        return (flat, self._end_start, self._ends, names.elements, names.attributes, self._of_texts), width

    def _looked_at(self, bounds: Ints) -> Ints:
        """The bounds, one behind the other, without attributes, and without texts, where no path leads to any."""
        kept = bounds.flatten()
        if not self._states.has_attributes:
            kept[END_ATTRIBUTE::6] = kept[FIRST_ATTRIBUTE::6]
        if not self._states.has_texts:
            kept[END_TEXT::6] = kept[FIRST_TEXT::6]
        return kept

    def _learn(self, names: _KnownNames, table: Sequence[str], kind: Kind, name: int, before: int) -> None:
        """What the kernel must know to pass a node: the class of its name, or the step from the state before it."""
        with self._lock:
            if kind is Kind.TEXT:
                known, name = self._of_texts, 0
            else:
                known = names.attributes if kind is Kind.ATTRIBUTE else names.elements
            if name >= len(known):
                known.extend([_UNKNOWN] * (len(table) - len(known)))
            if known[name] == _UNKNOWN:
                known[name] = self._class("@" * (kind is Kind.ATTRIBUTE) + table[name])
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
