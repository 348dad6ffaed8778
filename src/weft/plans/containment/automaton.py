"""Patterns in, an automaton out that reads trees from the bottom up: a state for each step, true where it matches.

It is exact for whatever is said about names, `/`, `//`, `*` and branches, with `and`, `or` and `not` between. All other
tests (values, counts, positions) are *atoms*, which a node may have or not as it likes.

A state is *hoped* for where a counterexample needs it to be true, and feared where it needs it to be false. As each
state is of one kind only, of two trees that differ in no other way the one with fewer feared and more hoped states is
at least as good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weft.documents.kind import Kind
from weft.plans.containment.steps import Stretch, TestPart, TooLargeError, from_document, links_of, placed, stretch_of
from weft.plans.names import passes
from weft.plans.plan import Always, And, Combine, Has, Label, Link, Named, Not, On, Or, Pattern, Selection

_MOST_STATES = 200


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a node of a tree is: its kind and its name, which texts do not have."""

    kind: Kind
    name: str

    def is_like(self, label: Label, kind: Kind) -> bool:
        """Whether it passes the label test of a step."""
        return self.kind is kind and (kind is Kind.TEXT or passes(label, self.name))


@dataclass(frozen=True, slots=True)
class Here:
    """A node as its states see it: the states of its children and of all nodes below, its atoms, its name."""

    children: int
    below: int
    atoms: int
    symbol: Symbol
    is_result: bool


NodeCheck = Callable[[Here], bool]


@dataclass(frozen=True, slots=True)
class TreeState:
    """A node is in it if it passes the label test and the rest holds."""

    label: Label
    kind: Kind
    holds: NodeCheck


class Automaton:
    """States, numbered as bits, each behind those that it asks for."""

    def __init__(self) -> None:
        self.states: list[TreeState] = []
        self.hoped = 0  # those that should be true; all others are feared
        self.atoms: dict[TestPart, int] = {}
        self.hoped_atoms = self.feared_atoms = 0
        self.labels: set[tuple[Label, Kind]] = set()
        self.has_names = False  # whether names are asked for in tests too

    def selection(self, selection: Selection, is_hoped: bool, by_result: bool = True) -> NodeCheck:
        """What holds of the document if a selection has the result; without `by_result` if it has any node."""
        match selection:
            case Pattern():
                return self._pattern(selection, is_hoped, by_result)
            case Combine("except", (first, *others)) if by_result:
                left = self.selection(first, is_hoped)
                gone = [self.selection(other, not is_hoped) for other in others]
                return lambda here: left(here) and not any(each(here) for each in gone)
            case Combine("union", parts):
                return _any([self.selection(part, is_hoped, by_result) for part in parts])
            case Combine("intersect", parts) if by_result:
                return _all([self.selection(part, is_hoped) for part in parts])
            case _:  # whether anything is in two sets says neither of them alone
                raise TooLargeError

    def _pattern(self, pattern: Pattern, is_hoped: bool, by_result: bool) -> NodeCheck:
        here, steps = stretch_of(links_of(pattern))
        if here or not steps:
            raise TooLargeError
        return self._chain(from_document(steps), is_hoped, by_result)

    def _chain(self, steps: Stretch, is_hoped: bool, by_result: bool) -> NodeCheck:
        """What holds of a node from which steps lead on."""
        onward: list[NodeCheck] = [_is_result] if by_result else []
        for step, tests in reversed(steps):
            conditions = [self.test(placed(test, step), is_hoped) for test in tests]
            number = self._add(step.label, step.kind, _all([*conditions, *onward]), is_hoped)
            onward = [_somewhere(1 << number) if step.deep else _right_below(1 << number)]
        return onward[0]

    def _add(self, label: Label, kind: Kind, holds: NodeCheck, is_hoped: bool) -> int:
        number = len(self.states)
        if number >= _MOST_STATES:
            raise TooLargeError
        self.states.append(TreeState(label, kind, holds))
        self.labels.add((label, kind))
        self.hoped |= is_hoped << number
        return number

    def test(self, test: TestPart, is_hoped: bool) -> NodeCheck:
        """What holds of a node that passes a test; its positions are `placed`."""
        match test:
            case And(tests):
                return _all([self.test(part, is_hoped) for part in tests])
            case Or(tests):
                return _any([self.test(part, is_hoped) for part in tests])
            case Not(part):
                denied = self.test(part, not is_hoped)
                return lambda here: not denied(here)
            case Always(value):
                return lambda _: value
            case Has(path, part):
                return self._chain(stretch_of([Link(path, part)])[1], is_hoped, by_result=False)
            case Named(label):
                self.has_names = True
                self.labels.add((label, Kind.ELEMENT))
                return lambda here: here.symbol.is_like(label, Kind.ELEMENT)
            case On():
                raise TooLargeError
            case _:
                bit = self.atom(test, is_hoped)
                return lambda here: bool(here.atoms & bit)

    def atom(self, test: TestPart, is_hoped: bool) -> int:
        """The bit of an atom."""
        bit = 1 << self.atoms.setdefault(test, len(self.atoms))
        if is_hoped:
            self.hoped_atoms |= bit
        else:
            self.feared_atoms |= bit
        return bit

    def atom_choices(self, known: int = 0, denied: int = 0) -> list[int]:
        """The sets of atoms that a node may have: what is not decided, nor better one way, comes both ways."""
        free = (1 << len(self.atoms)) - 1 & ~known & ~denied
        choices = [known | free & self.hoped_atoms & ~self.feared_atoms]
        both = free & self.hoped_atoms & self.feared_atoms
        while both:
            bit = both & -both
            both ^= bit
            choices += [each | bit for each in choices]
            if len(choices) > _MOST_STATES:
                raise TooLargeError
        return choices


def _all(parts: Iterable[NodeCheck]) -> NodeCheck:
    listed = list(parts)
    return listed[0] if len(listed) == 1 else lambda here: all(part(here) for part in listed)


def _any(parts: Iterable[NodeCheck]) -> NodeCheck:
    listed = list(parts)
    return lambda here: any(part(here) for part in listed)


def _right_below(bit: int) -> NodeCheck:
    return lambda here: bool(here.children & bit)


def _somewhere(bit: int) -> NodeCheck:
    return lambda here: bool(here.below & bit)


def _is_result(here: Here) -> bool:
    return here.is_result
