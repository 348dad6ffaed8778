"""Two selections in, a counterexample out: a tree in which the narrow one has a node that the wide one has not.

Miklau and Suciu: it is enough to look at *canonical models*, the guide's nodes with every `//` replaced by a chain, and
names that nobody mentions where any name will do. Instead of trying chains up to some length, the states that a tree's
root can be in are collected from the bottom up until no chain brings new ones: so there is no bound that could be too
small, and it stays exact with negated label tests, for which labels along a chain matter, and with `not`, for which
nodes beside the guide's (*extras*) may matter too. Of trees that are compared only the best are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from weft.documents.kind import Kind
from weft.plans.containment.alphabet import symbols
from weft.plans.containment.automaton import Automaton, Here, NodeCheck, Symbol
from weft.plans.containment.guide import GuideCase, GuideNode, guide_of
from weft.plans.containment.steps import TooLargeError
from weft.plans.plan import Combine, Pattern, Selection

MOST_CHECKS = (
    100_000  # of states at nodes, and of trees against each other, beyond which nothing is known: a tenth of a second
)
_DOCUMENT = Symbol(Kind.ELEMENT, "")
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Tree:
    """A node and those below it; one may be the result."""

    symbol: Symbol
    is_result: bool
    children: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A tree in which containment does not hold; where there are atoms it may be that no document is like it."""

    tree: Tree
    is_certain: bool


#: The states of nodes, and a tree (or those below one node) that has them.
Roots = dict[int, Tree]
Contributed = dict[int, tuple[Tree, ...]]


def find_counterexample(wide: Selection, narrow: Selection, by_result: bool) -> Counterexample | None:
    """A document in which the narrow selection has a node that the wide one has not; None if surely there is none.

    Without `by_result`: one in which the narrow one has a node and the wide one none. Raises TooLargeError if it takes
    too long to know, or if a wide selection combines others such that it is not known whether it has any node.
    """
    for pattern, others in _guides(narrow):
        automaton = Automaton()
        misses = automaton.selection(wide, is_hoped=False, by_result=by_result)
        wanted = [(automaton.selection(other, is_wanted), is_wanted) for other, is_wanted in others]
        first = guide_of(pattern, automaton)
        tree = _ModelSearch(automaton).find(first, misses, wanted)
        if tree is not None:
            return Counterexample(tree, not automaton.atoms)
    return None


def _guides(narrow: Selection) -> list[tuple[Pattern, list[tuple[Selection, bool]]]]:
    """Patterns that together have all nodes of a selection, each with what else must have the node, or must not."""
    match narrow:
        case Pattern():
            return [(narrow, [])]
        case Combine("union", parts):
            return [guide for part in parts for guide in _guides(part)]
        case Combine(operator, (first, *rest)):
            more = [(other, operator == "intersect") for other in rest]
            return [(pattern, [*others, *more]) for pattern, others in _guides(first)]
    raise TooLargeError


class _ModelSearch:
    """The trees that are tried, by the states of their roots."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._width = width = len(automaton.states)
        self._mask = (1 << width) - 1
        self._hoped = automaton.hoped | automaton.hoped << width
        self._symbols = symbols(automaton.labels)
        self._checked = 0
        self._passing = {symbol: self._states_for(symbol) for symbol in self._symbols}
        self._any_element = self._best_symbols([each for each in self._symbols if each.kind is Kind.ELEMENT])
        self._extras: Contributed = {0: ()}
        if automaton.hoped:  # else nothing beside the guide's nodes is of use
            self._extras = self._find_extras()

    def find(
        self, first: tuple[GuideNode, bool], misses: NodeCheck, wanted: list[tuple[NodeCheck, bool]]
    ) -> Tree | None:
        """A tree with the guide's nodes that misses the wide selection, and has all else that is wanted."""
        for states, tree in self._below(*first).items():
            here = Here(states & self._mask, states >> self._width, 0, _DOCUMENT, False)
            if not misses(here) and all(holds(here) == is_wanted for holds, is_wanted in wanted):
                return tree
        return None

    def _below(self, node: GuideNode, deep: bool) -> Roots:
        found = self._guided(node)
        return self._chained(found) if deep else found

    def _guided(self, node: GuideNode) -> Roots:
        """What the roots of trees with a guide's nodes can be."""
        found: Roots = {}
        admitted = self._best_symbols([symbol for symbol in self._symbols if node.admits(symbol)])
        for case in node.cases:
            if node.kind is not Kind.ELEMENT and case.children:
                continue  # nothing lies below an attribute or a text
            choices = list(product(admitted, case.atoms(self._automaton)))
            for contributed, trees in self._contributions(case, node.kind).items():
                for symbol, atoms in choices:
                    here = self._here(contributed, symbol, atoms, node.is_result)
                    if all(condition(here) for condition in case.conditions):
                        self._keep(found, self._states(here), Tree(symbol, node.is_result, trees))
        return found

    def _contributions(self, case: GuideCase, kind: Kind) -> Contributed:
        contributed: Contributed = self._extras if kind is Kind.ELEMENT else {0: ()}
        for child, deep in case.children:
            below = self._below(child, deep)
            merged: Contributed = {}
            for states, trees in contributed.items():
                for more, tree in below.items():
                    self._keep(merged, states | more, (*trees, tree))
            contributed = merged
        return contributed

    def _chained(self, found: Roots) -> Roots:
        """The same, further down: with all that elements between can make of them."""
        found = dict(found)
        waiting = list(found)
        while waiting:
            states = waiting.pop()
            tree = found.get(states)
            if tree is None:
                continue  # something better came since
            for extra, trees in self._extras.items():
                waiting += self._grow(found, states | extra, (*trees, tree), self._any_element)
        return found

    def _grow(self, found: Roots, contributed: int, trees: tuple[Tree, ...], tried: Iterable[Symbol]) -> list[int]:
        """Keep what a free node above some trees can be, where it is new."""
        new = []
        for symbol in tried:
            for atoms in self._automaton.atom_choices():
                states = self._states(self._here(contributed, symbol, atoms, is_result=False))
                if self._keep(found, states, Tree(symbol, False, trees)):
                    new.append(states)
        return new

    def _find_extras(self) -> Contributed:
        """What any trees whatever, side by side, can contribute to the node above them."""
        extras: Contributed = {0: ()}
        found: Roots = {}
        new = self._grow(found, 0, (), self._symbols)
        while new:
            for states in new:
                for other, trees in list(extras.items()):
                    if states in found:
                        self._keep(extras, states | other, (*trees, found[states]))
            new = [
                states
                for contributed, trees in list(extras.items())
                if trees
                for states in self._grow(found, contributed, trees, self._any_element)
            ]
        return extras

    def _here(self, contributed: int, symbol: Symbol, atoms: int, is_result: bool) -> Here:
        return Here(contributed & self._mask, contributed >> self._width, atoms, symbol, is_result)

    def _states(self, here: Here) -> int:
        """The states of a node, and behind them those of the node or any below it."""
        passing = self._passing[here.symbol]
        self._spend(1 + len(passing))
        own = 0
        for bit, holds in passing:
            if holds(here):
                own |= bit
        return own | (own | here.below) << self._width

    def _spend(self, checks: int) -> None:
        self._checked += checks
        if self._checked > MOST_CHECKS:
            raise TooLargeError

    def _keep(self, found: dict[int, Kept], states: int, tree: Kept) -> bool:
        """Keep a tree unless one that is there is as good; those that are no better than it go."""
        self._spend(1 + len(found))
        wished = states ^ self._hoped  # with all bits of one mind: the fewer the better
        if any(not (other ^ self._hoped) & ~wished for other in found):
            return False
        for other in [other for other in found if not wished & ~(other ^ self._hoped)]:
            del found[other]
        found[states] = tree
        return True

    def _states_for(self, symbol: Symbol) -> list[tuple[int, NodeCheck]]:
        states = enumerate(self._automaton.states)
        return [(1 << at, state.holds) for at, state in states if symbol.is_like(state.label, state.kind)]

    def _best_symbols(self, among: list[Symbol]) -> list[Symbol]:
        """Without those instead of which another one is at least as good whatever the tree."""
        if self._automaton.has_names:
            return among
        best: dict[int, Symbol] = {}
        for symbol in among:
            passing = sum(bit for bit, _ in self._passing[symbol])
            self._keep(best, passing, symbol)
        return list(best.values())
