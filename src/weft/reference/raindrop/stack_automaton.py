"""Patterns and a node table in, how often each state of their automaton lies on top of its stack out.

A pattern begins at the state in which its parent pattern ends, as q2 is the state of `$a` and of all that is looked for
below it in Figure 3. Only a pattern that begins with `//` has a state of its own there, which stays active below (q5).
Otherwise patterns do not share states, as in the paper's cost of one TokenNav.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.optimizer.navigation import passes_step
from weft.optimizer.pattern_tree import PatternTree
from weft.plans.plan import Step

#: A pattern, and how many steps of its own path have been made; 0 only where its first step is deep.
PatternState = tuple[int, int]
#: Where the bottom input element is; it is in every automaton.
ELEMENT: PatternState = (-1, 0)
StackTop = frozenset[PatternState]
_EMPTY: StackTop = frozenset()


def end_state(tree: PatternTree, pattern: int | None) -> PatternState:
    """The state that a binding's start tag leads to."""
    return ELEMENT if pattern is None else (pattern, len(tree.patterns[pattern].path))


def own_states(tree: PatternTree, pattern: int) -> list[PatternState]:
    """The states that an automaton has for a pattern beside those of its ancestors: Q(A_p1) of equation 2."""
    path = tree.patterns[pattern].path
    return [(pattern, place) for place in range(0 if path[0].deep else 1, len(path) + 1)]


def way_states(tree: PatternTree, pattern: int) -> list[PatternState]:
    """The states at which the steps of a pattern begin, from its parent's end on."""
    return [end_state(tree, tree.patterns[pattern].parent), *own_states(tree, pattern)[:-1]]


@dataclass(frozen=True, slots=True)
class StackCounts:
    """Of one bottom input element, on average: Table 2 of the paper."""

    active: dict[PatternState, float]  # how often the top of the stack has a state when a start tag comes
    begun: dict[PatternState, float]  # how often a start tag leads to it
    nodes: dict[PatternState, float]  # of an element whose start tag leads to it: itself and those inside
    starts: float
    ends: float


class StackAutomaton:
    """The automaton of some patterns, with its stack."""

    def __init__(self, tree: PatternTree) -> None:
        self._ways: dict[PatternState, list[tuple[Step, StackTop]]] = {}
        self._loops: set[PatternState] = set()
        self._tree = tree
        for pattern in tree.required:
            self._add(pattern)
        self.stack: list[StackTop] = []

    def _add(self, pattern: int) -> None:
        path = self._tree.patterns[pattern].path
        begin = (pattern, 0) if path[0].deep else end_state(self._tree, self._tree.patterns[pattern].parent)
        if path[0].deep:
            self._loops.add(begin)
        for place, step in enumerate(path):
            source = (pattern, place) if place else begin
            target = (pattern, place + 1)
            reached = self._entered(pattern) if place + 1 == len(path) else frozenset([target])
            if step.kind is Kind.ELEMENT:
                self._ways.setdefault(source, []).append((step, reached))

    def _entered(self, pattern: int | None) -> StackTop:
        """A pattern's end, and the states of their own of those below that begin with `//`."""
        below = self._tree.children(pattern)
        loops = [(child, 0) for child in below if self._tree.patterns[child].path[0].deep]
        return frozenset([end_state(self._tree, pattern), *loops])

    def begin(self) -> None:
        """A bottom input element begins."""
        self.stack = [self._entered(None)]

    def start(self, name: str) -> None:
        """A start tag: where the top of the stack is empty, nothing is looked up."""
        top = self.stack[-1]
        if not top:
            self.stack.append(_EMPTY)
            return
        pushed = {state for state in top if state in self._loops}
        for state in top:
            for step, reached in self._ways.get(state, ()):
                if passes_step(step, name):
                    pushed |= reached
        self.stack.append(frozenset(pushed))

    def end(self) -> None:
        """An end tag."""
        self.stack.pop()


def count_states(tree: PatternTree, table: NodeTable) -> StackCounts:
    """Run the automaton of all patterns over the elements of a batch, tag by tag."""
    active: Counter[PatternState] = Counter()
    begun: Counter[PatternState] = Counter()
    nodes: Counter[PatternState] = Counter()
    automaton, open_rows = StackAutomaton(tree), list[int]()
    parents, names = table.parent[: table.elements].tolist(), table.name[: table.elements].tolist()
    for row, (parent, last) in enumerate(zip(parents, table.last[: table.elements].tolist(), strict=True)):
        if parent < 0:
            automaton.begin()
            open_rows = [row]
        else:
            while open_rows[-1] != parent:
                automaton.end()
                open_rows.pop()
            active.update(automaton.stack[-1])
            automaton.start(table.names[names[row]])
            open_rows.append(row)
        begun.update(automaton.stack[-1])
        for state in automaton.stack[-1]:
            nodes[state] += last - row + 1
    number = max(len(table.documents), 1)
    tags = int(np.count_nonzero(table.parent[: table.elements] >= 0)) / number
    each = {state: nodes[state] / times for state, times in begun.items()}
    return StackCounts(_shares(active, number), _shares(begun, number), each, tags, tags)


def _shares(counts: Counter[PatternState], number: int) -> dict[PatternState, float]:
    return {state: count / number for state, count in counts.items()}
