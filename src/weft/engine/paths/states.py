"""All navigation paths in one NFA: paths in, states out; a set of states and a name in, the next set out.

A state is a prefix of some path. From a state lead edges by label test, one edge by `*`, and one silent edge to its
*loop*, a state that stays active below: the edges behind `//` start there. A state has one way in, so a path is its
last state.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.columns.steps import finished
from weft.documents.kind import Kind
from weft.engine.paths.leading import leading
from weft.engine.paths.step_codes import STAR_SYMBOL, code_step, decode_step, symbols_of_codes
from weft.kernel.automaton import StateTable
from weft.plans.names import TEXT_NAME, name_forms
from weft.plans.plan import Label, Path, Step, Unlike

ROOT = 0
NO_STATE = -1
NO_STEP = -1  # of the root, and of loops: an edge without a name leads there
STAR = "*"
_ELEMENT = Kind.ELEMENT  # an enumeration's members are found slowly in Python 3.11
_FIRST_NAMED = code_step(STAR_SYMBOL + 1, Kind.ELEMENT, False)  # the codes below are those of `*`
_EDGES_A_STEP = 1 << 14
_NAME = 150  # bytes that a name takes beside its characters
_MOST_NAME_BYTES = 1 << 24  # of names whose label tests are remembered
_FEW = 40  # active states, up to which Python is faster than numpy
_NONE = np.zeros(0, np.int32)


def _key(label: Label, kind: Kind) -> Label:
    """What tells a label test from those of other kinds."""
    return f"@{label}" if kind is Kind.ATTRIBUTE else label


class States:
    """The NFA. It only grows; whoever keeps sets of states must drop them when it does."""

    def __init__(self) -> None:
        self._star = array("i")  # the state behind `*`, or NO_STATE
        self._loop = array("i")  # the state that stays active below, or NO_STATE; a loop's loop is itself
        self.above = array("i")  # the state that the way into a state begins at; of a loop, the state that it is for
        self.step = array("i")  # the code of the step that leads to a state, or NO_STEP
        self._labels: list[Label] = []  # by symbol
        self._kinds: list[Kind] = []
        self._unlike: list[tuple[int, frozenset[str]]] = []
        self._of_name: dict[str, tuple[int, ...]] = {}
        self._name_bytes = 0
        self._marks = np.zeros(0, bool)
        self.has_attributes = False  # whether some path leads to attributes, or to texts
        self.has_texts = False
        self.names_attributes = False  # whether some label test is for attributes
        self._index()
        self._new(NO_STATE, NO_STEP)

    def __len__(self) -> int:
        return len(self._star)

    def __getstate__(self) -> dict[str, object]:
        """The columns: what only finds things in them is made anew."""
        made = ("_children", "_codes", "_symbols", "_of_name", "_marks", "_by_symbol")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._of_name, self._name_bytes, self._marks = {}, 0, np.zeros(0, bool)
        self._index()

    def _index(self) -> None:
        """Make what finds symbols, codes and states."""
        self._symbols = {
            _key(label, kind): at for at, (label, kind) in enumerate(zip(self._labels, self._kinds, strict=True))
        }
        self._codes: dict[tuple[Kind, bool], dict[Label, int]] = {
            (kind, deep): {} for kind in Kind for deep in (False, True)
        }
        self._children: dict[int, int] | None = None  # by state and step; made when a path is first added
        self._by_symbol: tuple[int, Ints, Ints, Ints] | None = None

    # -- growing

    def extend(self, state: int, path: Path) -> int:
        """The state behind a path from a state, made if it is not there."""
        children, codes = self._find_children(), self._codes
        for step in path:
            code = codes[step.kind, step.deep].get(step.label)
            if code is None:
                code = self.code(step)
            key = state << 32 | code
            child = children.get(key)
            if child is None:
                child = children[key] = self._add(state, step, code)
            state = child
        return state

    def _find_children(self) -> dict[int, int]:
        """By state and step the state behind it; found in the columns when it is first asked for."""
        if self._children is None:
            ways = enumerate(zip(self.above, self.step, strict=True))
            self._children = {above << 32 | step: at for at, (above, step) in ways if step != NO_STEP}
        return self._children

    def code(self, step: Step) -> int:
        """The code of a step; its label test has a symbol from now on."""
        codes = self._codes[step.kind, step.deep]
        code = codes.get(step.label)
        if code is None:
            is_star = step.label == STAR and step.kind is Kind.ELEMENT
            symbol = STAR_SYMBOL if is_star else self.symbol(step.label, step.kind)
            code = codes[step.label] = code_step(symbol, step.kind, step.deep)
        return code

    def symbol(self, label: Label, kind: Kind = Kind.ELEMENT) -> int:
        """The number of a label test."""
        key = _key(label, kind)
        symbol = self._symbols.get(key)
        if symbol is None:
            symbol = self._symbols[key] = len(self._labels)
            self._labels.append(label)
            self._kinds.append(kind)
            self._of_name.clear()
            self.names_attributes |= kind is Kind.ATTRIBUTE
            if isinstance(label, Unlike):
                self._unlike.append((symbol, frozenset(label.labels)))
        return symbol

    def label(self, symbol: int) -> Label:
        """The label test with a number, also that of `*`."""
        return STAR if symbol == STAR_SYMBOL else self._labels[symbol]

    def step_of(self, code: int) -> Step:
        """The step with a code."""
        symbol, kind, deep = decode_step(code)
        return Step(self.label(symbol), deep, kind)

    def path(self, below: int, above: int = ROOT) -> Path:
        """The one path between two states."""
        steps = []
        while below != above:
            steps.append(self.step_of(self.step[below]))
            below = self.above[below]
        return tuple(reversed(steps))

    def _new(self, above: int, step: int) -> int:
        self.above.append(above)
        self.step.append(step)
        self._star.append(NO_STATE)
        self._loop.append(NO_STATE)
        return len(self._star) - 1

    def _loop_of(self, state: int) -> int:
        if self._loop[state] == NO_STATE:
            loop = self._loop[state] = self._new(state, NO_STEP)
            self._loop[loop] = loop
        return self._loop[state]

    def _add(self, state: int, step: Step, code: int) -> int:
        """The state behind a step, which there was not."""
        source = self._loop_of(state) if step.deep else state
        child = self._new(state, code)
        if code < _FIRST_NAMED:
            self._star[source] = child
        if step.kind is not _ELEMENT:
            self.has_attributes |= step.kind is Kind.ATTRIBUTE
            self.has_texts |= step.kind is Kind.TEXT
        return child

    # -- as columns

    def edges(self) -> tuple[Ints, Ints, Ints]:
        """The edges by symbol: where those of each begin, the states that they lead from, and to."""
        return finished(self._find_edges())

    def _find_edges(self) -> Generator[None, None, tuple[Ints, Ints, Ints]]:
        if self._by_symbol is None or self._by_symbol[0] != len(self):
            step, above = np.array(self.step, np.int32), np.array(self.above, np.int32)
            named = np.flatnonzero((step != NO_STEP) & (symbols_of_codes(step) != STAR_SYMBOL)).astype(np.int32)
            yield
            symbol = symbols_of_codes(step[named])
            order = np.argsort(symbol, kind="stable")
            yield
            named = named[order]
            sources = np.where(step[named] & 1, np.array(self._loop, np.int32)[above[named]], above[named])
            yield
            starts = np.searchsorted(symbol[order], np.arange(len(self._labels) + 1)).astype(np.int32)
            self._by_symbol = len(self), starts, sources, named
        return self._by_symbol[1:]

    def automaton(self, wanted: Flags | None = None) -> Generator[None, None, StateTable]:
        """The states and edges as they are now, for the compiled run over label paths; in steps.

        With `wanted`, marks on states, there are only the edges that lead to these, at once or at last.
        """
        starts, sources, targets = yield from self._find_edges()
        star, loop = np.array(self._star, np.int32), np.array(self._loop, np.int32)
        yield
        if wanted is not None:
            step = np.array(self.step, np.int32)
            is_deep = (step & 1 == 1) & (step != NO_STEP)
            leads = yield from leading(wanted, np.array(self.above, np.int32), loop, is_deep)
            star[~leads[star]] = loop[~leads[loop]] = NO_STATE
            yield
            kept = leads[targets]
            starts = np.append(0, np.cumsum(kept, dtype=np.int32))[starts].astype(np.int32)
            yield
            sources, targets = sources[kept], targets[kept]
            yield
        table = StateTable(star, loop, starts, sources, targets)
        yield
        while table.index(_EDGES_A_STEP):
            yield
        return table

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
        starts, sources, targets = self.edges()
        spans = [slice(*starts[symbol : symbol + 2].tolist()) for symbol in self.symbols_of(name)]
        reached = [targets[span][marks[sources[span]]] for span in spans]
        marks[active] = False
        if name[0] != "@" and name != TEXT_NAME:
            stars = np.frombuffer(self._star, np.int32)[active]
            reached.append(stars[stars != NO_STATE])
        return np.concatenate(reached) if reached else _NONE

    def _reach_few(self, active: list[int], name: str) -> Ints:
        """The same for so few states that calls of numpy would cost more than they save."""
        reached = []
        children, symbols = self._find_children(), self.symbols_of(name)
        kind = Kind.TEXT if name == TEXT_NAME else Kind.ATTRIBUTE if name[0] == "@" else Kind.ELEMENT
        for state in active:
            is_loop = self._loop[state] == state
            above = self.above[state] if is_loop else state
            for symbol in symbols:
                child = children.get(above << 32 | code_step(symbol, kind, is_loop))
                if child is not None:
                    reached.append(child)
        if name[0] != "@" and name != TEXT_NAME:
            reached += [self._star[state] for state in active if self._star[state] != NO_STATE]
        return np.array(reached, np.int32) if reached else _NONE

    def activate(self, active: Ints, reached: Ints) -> Ints:
        """All states that are active behind a name, from those before it and those reached by it."""
        if active.size + reached.size <= _FEW:
            known = {state: None for state in active.tolist() if self._loop[state] == state}
            known.update((self._loop[state], None) for state in reached.tolist() if self._loop[state] != NO_STATE)
            return np.array([*reached.tolist(), *known], np.int32) if known or reached.size else _NONE
        loop = np.frombuffer(self._loop, np.int32)
        loops = active[loop[active] == active]  # a loop's loop is itself
        new_loops = loop[reached]
        new_loops = new_loops[new_loops != NO_STATE]
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
            self._name_bytes += _NAME + len(name)
            if self._name_bytes > _MOST_NAME_BYTES:
                self._of_name.clear()
                self._name_bytes = 0
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
