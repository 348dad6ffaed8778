"""All navigation paths in one NFA: paths in, states out; a set of states and a name in, the next set out.

A state is a prefix of some path. From a state lead edges by label test, one edge by `*`, and one silent edge to its
*loop*, a state that stays active below: the edges behind `//` start there. A state has one way in, so a path is its
last state.
"""

from __future__ import annotations

from array import array

import numpy as np

from weft.columns.integers import Ints
from weft.documents.kind import Kind
from weft.kernel.automaton import StateTable
from weft.plans.names import TEXT_NAME, name_forms
from weft.plans.plan import Label, Path, Step, Unlike

ROOT = 0
_SYMBOLS = 1 << 24  # edges are keyed by state * _SYMBOLS + symbol
_PREFIX = {Kind.ELEMENT: "", Kind.ATTRIBUTE: "@", Kind.TEXT: ""}
STAR = "*"
_FEW = 40  # active states, up to which Python is faster than numpy
_NONE = np.zeros(0, np.int32)


def _step(label: Label, deep: bool) -> Step:
    if label == TEXT_NAME:
        return Step(TEXT_NAME, deep, Kind.TEXT)
    if isinstance(label, str) and label.startswith("@"):
        return Step(label.removeprefix("@"), deep, Kind.ATTRIBUTE)
    return Step(label, deep, Kind.ELEMENT)


class States:
    """The NFA. It only grows; whoever keeps sets of states must drop them when it does."""

    def __init__(self) -> None:
        self._edges: dict[int, int] = {}
        self._star = array("i")
        self._loop = array("i")
        self.symbol_of_state = array("i")  # the label test of the step that leads to a state; -1 for `*`
        self._from: list[array[int]] = []
        self._to: list[array[int]] = []
        self._symbols: dict[str | Unlike, int] = {}
        self._unlike: list[tuple[int, frozenset[str]]] = []
        self._of_name: dict[str, tuple[int, ...]] = {}
        self._marks = np.zeros(0, bool)
        self.has_attributes = False  # whether some path leads to attributes, or to texts
        self.has_texts = False
        self.names_attributes = False  # whether some label test is for attributes
        self._new()

    def __len__(self) -> int:
        return len(self._star)

    # -- growing

    def extend(self, state: int, path: Path) -> int:
        """The state behind a path from a state, made if it is not there."""
        for step in path:
            state = self._child(self._loop_of(state) if step.deep else state, step)
        return state

    def symbol(self, label: Label, kind: Kind = Kind.ELEMENT) -> int:
        """The number of a label test."""
        key = label if isinstance(label, Unlike) else _PREFIX[kind] + label
        symbol = self._symbols.get(key)
        if symbol is None:
            symbol = self._symbols[key] = len(self._from)
            self._from.append(array("i"))
            self._to.append(array("i"))
            self._of_name.clear()
            self.names_attributes |= kind is Kind.ATTRIBUTE
            if isinstance(label, Unlike):
                self._unlike.append((symbol, frozenset(label.labels)))
        return symbol

    def label(self, symbol: int) -> Label:
        """The label test with a number; -1 is `*`."""
        if symbol < 0:
            return STAR
        label = next(label for label, known in self._symbols.items() if known == symbol)
        return label.removeprefix("@") if isinstance(label, str) else label

    def ways(self) -> dict[int, tuple[int, Step]]:
        """The one way into each state: from which state, by which step. Made for people: it goes over all states."""
        above = {loop: state for state, loop in enumerate(self._loop) if loop >= 0 and loop != state}
        labels = {symbol: label for label, symbol in self._symbols.items()}
        into = [(key // _SYMBOLS, labels[key % _SYMBOLS], child) for key, child in self._edges.items()]
        into += [(state, STAR, child) for state, child in enumerate(self._star) if child >= 0]
        return {child: (above.get(state, state), _step(label, deep=state in above)) for state, label, child in into}

    def _new(self, symbol: int = -1) -> int:
        self.symbol_of_state.append(symbol)
        self._star.append(-1)
        self._loop.append(-1)
        return len(self._star) - 1

    def _loop_of(self, state: int) -> int:
        if self._loop[state] < 0:
            loop = self._loop[state] = self._new()
            self._loop[loop] = loop
        return self._loop[state]

    def _child(self, state: int, step: Step) -> int:
        if step.label == STAR and step.kind is Kind.ELEMENT:
            if self._star[state] < 0:
                self._star[state] = self._new()
            return self._star[state]
        symbol = self.symbol(step.label, step.kind)
        key = state * _SYMBOLS + symbol
        child = self._edges.get(key)
        if child is None:
            child = self._edges[key] = self._new(symbol)
            self._from[symbol].append(state)
            self._to[symbol].append(child)
            self.has_attributes |= step.kind is Kind.ATTRIBUTE
            self.has_texts |= step.kind is Kind.TEXT
        return child

    def automaton(self) -> StateTable:
        """The states and edges as they are now, for the compiled run over label paths."""
        starts = np.cumsum([0, *map(len, self._from)], dtype=np.int32)
        joined = [
            np.concatenate([np.zeros(0, np.int32), *(np.frombuffer(each, np.int32) for each in column if each)])
            for column in (self._from, self._to)
        ]
        return StateTable(np.array(self._star, np.int32), np.array(self._loop, np.int32), starts, *joined)

    # -- running

    def start(self) -> Ints:
        """The states that are active at the document's root."""
        return np.array([ROOT] + [self._loop[ROOT]] * (self._loop[ROOT] >= 0), np.int32)

    def reach(self, active: Ints, name: str) -> Ints:
        """The states that are reached from active ones by a name."""
        if active.size <= _FEW:
            return self._reach_few(active.tolist(), name)
        if len(self._marks) < len(self):
            self._marks = np.zeros(2 * len(self), bool)
        marks = self._marks
        marks[active] = True
        reached = [
            np.frombuffer(self._to[symbol], np.int32)[marks[np.frombuffer(self._from[symbol], np.int32)]]
            for symbol in self.symbols_of(name)
            if self._from[symbol]
        ]
        marks[active] = False
        if name[0] != "@" and name != TEXT_NAME:
            stars = np.frombuffer(self._star, np.int32)[active]
            reached.append(stars[stars >= 0])
        return np.concatenate(reached) if reached else _NONE

    def _reach_few(self, active: list[int], name: str) -> Ints:
        """The same for so few states that calls of numpy would cost more than they save."""
        reached = []
        symbols = self.symbols_of(name)
        for state in active:
            for symbol in symbols:
                child = self._edges.get(state * _SYMBOLS + symbol)
                if child is not None:
                    reached.append(child)
        if name[0] != "@" and name != TEXT_NAME:
            reached += [self._star[state] for state in active if self._star[state] >= 0]
        return np.array(reached, np.int32) if reached else _NONE

    def activate(self, active: Ints, reached: Ints) -> Ints:
        """All states that are active behind a name, from those before it and those reached by it."""
        if active.size + reached.size <= _FEW:
            known = {state: None for state in active.tolist() if self._loop[state] == state}
            known.update((self._loop[state], None) for state in reached.tolist() if self._loop[state] >= 0)
            return np.array([*reached.tolist(), *known], np.int32) if known or reached.size else _NONE
        loop = np.frombuffer(self._loop, np.int32)
        loops = active[loop[active] == active]  # a loop's loop is itself
        new_loops = loop[reached]
        new_loops = new_loops[new_loops >= 0]
        if len(self._marks) < len(self):
            self._marks = np.zeros(2 * len(self), bool)
        self._marks[loops] = True
        new_loops = new_loops[~self._marks[new_loops]]
        self._marks[loops] = False
        return np.concatenate([reached, loops, new_loops])

    def symbols_of(self, name: str) -> tuple[int, ...]:
        """The label tests that a name passes, but for `*`."""
        symbols = self._of_name.get(name)
        if symbols is None:
            if len(self._of_name) > 100_000:
                self._of_name.clear()
            symbols = self._of_name[name] = self._find_symbols(name)
        return symbols

    def _find_symbols(self, name: str) -> tuple[int, ...]:
        if name == TEXT_NAME:
            return (self._symbols[TEXT_NAME],) if TEXT_NAME in self._symbols else ()
        forms = name_forms(name)
        found = [self._symbols[form] for form in forms if form in self._symbols]
        if name[0] == "@":
            return tuple(found)
        return tuple(found) + tuple(symbol for symbol, labels in self._unlike if not labels.intersection(forms))
