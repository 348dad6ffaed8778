"""All navigation paths in one NFA: paths in, states out; a set of states and a name in, the next set out.

A state is a prefix of some path. From a state lead edges by label test, one edge by `*`, and one silent edge to its
*loop*, a state that stays active below: the edges behind `//` start there. A state has one way in, so a path is its
last state.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from weft.documents.kind import Kind
from weft.plans.plan import Label, Path, Step, Unlike

Ints = NDArray[np.int32]
ROOT = 0
_SYMBOLS = 1 << 24  # edges are keyed by state * _SYMBOLS + symbol
_PREFIX = {Kind.ELEMENT: "", Kind.ATTRIBUTE: "@", Kind.TEXT: ""}
STAR = "*"
_FEW = 40  # active states, up to which Python is faster than numpy
_NONE = np.zeros(0, np.int32)
TEXT_NAME = "text()"


class States:
    """The NFA. It only grows; whoever keeps sets of states must drop them when it does."""

    def __init__(self) -> None:
        self._edges: dict[int, int] = {}
        self._star = array("i")
        self._loop = array("i")
        self._is_loop = array("b")
        self._from: list[array[int]] = []
        self._to: list[array[int]] = []
        self._symbols: dict[str | Unlike, int] = {}
        self._unlike: list[tuple[int, frozenset[str]]] = []
        self._of_name: dict[str, tuple[int, ...]] = {}
        self._marks = np.zeros(0, bool)
        self.has_attributes = False  # whether some path leads to attributes, or to texts
        self.has_texts = False
        self.names_attributes = False  # whether some label test is for attributes
        self._new(is_loop=False)

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

    def _new(self, is_loop: bool) -> int:
        self._star.append(-1)
        self._loop.append(-1)
        self._is_loop.append(is_loop)
        return len(self._star) - 1

    def _loop_of(self, state: int) -> int:
        if self._loop[state] < 0:
            self._loop[state] = self._new(is_loop=True)
        return self._loop[state]

    def _child(self, state: int, step: Step) -> int:
        if step.label == STAR and step.kind is Kind.ELEMENT:
            if self._star[state] < 0:
                self._star[state] = self._new(is_loop=False)
            return self._star[state]
        symbol = self.symbol(step.label, step.kind)
        key = state * _SYMBOLS + symbol
        child = self._edges.get(key)
        if child is None:
            child = self._edges[key] = self._new(is_loop=False)
            self._from[symbol].append(state)
            self._to[symbol].append(child)
            self.has_attributes |= step.kind is Kind.ATTRIBUTE
            self.has_texts |= step.kind is Kind.TEXT
        return child

    # -- running

    def start(self) -> Ints:
        """The states that are active at the document's root."""
        return np.array([ROOT] + [self._loop[ROOT]] * (self._loop[ROOT] >= 0), np.int32)

    def step(self, active: Ints, name: str) -> tuple[Ints, Ints]:
        """From active states by a name: the states reached, and all that are active then."""
        if active.size <= _FEW:
            return self._step_few(active.tolist(), name)
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
        if name[0] == "@" or name == TEXT_NAME:
            found = np.concatenate(reached) if reached else np.zeros(0, np.int32)
            return found, found[:0]
        stars = np.frombuffer(self._star, np.int32)[active]
        found = np.concatenate([*reached, stars[stars >= 0]])
        loops = active[np.frombuffer(self._is_loop, np.int8)[active] > 0]
        new_loops = np.frombuffer(self._loop, np.int32)[found]
        new_loops = new_loops[new_loops >= 0]
        marks[loops] = True
        new_loops = new_loops[~marks[new_loops]]
        marks[loops] = False
        return found, np.concatenate([found, loops, new_loops])

    def _step_few(self, active: list[int], name: str) -> tuple[Ints, Ints]:
        """The same for so few states that calls of numpy would cost more than they save."""
        reached = []
        symbols = self.symbols_of(name)
        for state in active:
            for symbol in symbols:
                child = self._edges.get(state * _SYMBOLS + symbol)
                if child is not None:
                    reached.append(child)
        if name[0] == "@" or name == TEXT_NAME:
            return (np.array(reached, np.int32), _NONE) if reached else (_NONE, _NONE)
        reached += [self._star[state] for state in active if self._star[state] >= 0]
        loops = {state: None for state in active if self._is_loop[state]}
        loops.update((self._loop[state], None) for state in reached if self._loop[state] >= 0)
        found = np.array(reached, np.int32) if reached else _NONE
        return found, np.array([*reached, *loops], np.int32) if reached or loops else _NONE

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


def name_forms(name: str) -> tuple[str, ...]:
    """The label tests that a name (of an attribute: behind `@`) passes, as they are written in plans."""
    at, plain = ("@", name[1:]) if name[0] == "@" else ("", name)
    if plain[0] == "{":
        uri, _, local = plain[1:].rpartition("}")
        forms: tuple[str, ...] = (name, f"{at}*:{local}", f"{at}{{{uri}}}*")
    else:
        forms = (name, f"{at}*:{plain}")
    return (*forms, "@*") if at else forms
