"""A narrow pattern in, a guide out: the nodes that every document with a result must have, and what they must pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from weft.documents.kind import Kind
from weft.plans.containment.automaton import Automaton, NodeCheck, Symbol
from weft.plans.containment.steps import Stretch, TestPart, TooLargeError, from_document, links_of, placed, stretch_of
from weft.plans.containment.values import Claim, claim, contradict, follows
from weft.plans.plan import (
    Always,
    And,
    Count,
    First,
    Has,
    Label,
    Link,
    Named,
    Not,
    Or,
    Pattern,
    Test,
    Value,
    has,
    negation,
)

_MOST_CASES = 64  # of one node, by its `or`s


@dataclass(slots=True)
class GuideCase:
    """One way for a node to pass its tests."""

    children: list[tuple[GuideNode, bool]]  # each, and whether it may be further down
    conditions: list[NodeCheck] = field(default_factory=list)
    known: set[TestPart] = field(default_factory=set)  # atoms that it has
    denied: set[TestPart] = field(default_factory=set)  # atoms that it has not
    claims: list[Claim] = field(default_factory=list)

    def atoms(self, automaton: Automaton) -> list[int]:
        """The sets of atoms that such a node may have."""
        known = denied = 0
        for atom, number in automaton.atoms.items():
            if atom in self.known or (isinstance(atom, Value) and follows(self.claims, claim(atom, True))):
                known |= 1 << number
            elif atom in self.denied or (isinstance(atom, Value) and follows(self.claims, claim(atom, False))):
                denied |= 1 << number
        return automaton.atom_choices(known, denied)


@dataclass(slots=True)
class GuideNode:
    """A node that must be there."""

    label: Label
    kind: Kind
    is_result: bool
    cases: list[GuideCase]

    def admits(self, symbol: Symbol) -> bool:
        """Whether such a node may be this."""
        return symbol.is_like(self.label, self.kind)


def guide_of(pattern: Pattern, automaton: Automaton) -> tuple[GuideNode, bool]:
    """The first node below the document, and whether it may be further down.

    What nodes must not have, and all names in tests, the automaton watches over.
    """
    here, steps = stretch_of(links_of(pattern))
    if here or not steps:
        raise TooLargeError
    return _chain(from_document(steps), automaton, is_result=True)


def _chain(steps: Stretch, automaton: Automaton, is_result: bool) -> tuple[GuideNode, bool]:
    below: list[tuple[GuideNode, bool]] = []
    for step, tests in reversed(steps):
        cases = [_case(parts, below, automaton) for parts in _alternatives(placed(test, step) for test in tests)]
        automaton.labels.add((step.label, step.kind))
        node = GuideNode(step.label, step.kind, is_result, [case for case in cases if not contradict(case.claims)])
        below, is_result = [(node, step.deep)], False
    return below[0]


def _alternatives(tests: Iterable[TestPart]) -> list[list[TestPart]]:
    """Tests that must all hold, as lists without `and` and `or` of which one must hold."""
    found: list[list[TestPart]] = [[]]
    for test in tests:
        ways = _ways(test)
        if len(found) * len(ways) > _MOST_CASES:
            raise TooLargeError
        found = [[*before, *way] for before in found for way in ways]
    return found


def _ways(test: TestPart) -> list[list[TestPart]]:
    match test:
        case And(tests):
            return _alternatives(tests)
        case Or(tests):
            return [way for part in tests for way in _ways(part)]
        case Not(And() | Or() | Not() | Always() as inner):
            return _ways(negation(inner))
        case Always(value):
            return [[]] if value else []
        case _:
            return [[test]]


def _case(parts: list[TestPart], below: list[tuple[GuideNode, bool]], automaton: Automaton) -> GuideCase:
    case = GuideCase(list(below))
    for part in parts:
        match part:
            case Has(path, test):
                case.children.append(_below([Link(path, test)], automaton))
            case Named() | Not(Named() | Has()):
                case.conditions.append(automaton.test(part, is_hoped=True))
            case Not(atom):
                case.denied.add(atom)
                case.claims += [claim(atom, False)] if isinstance(atom, Value) else []
            case _:
                case.known.add(part)
                case.claims += [claim(part, True)] if isinstance(part, Value) else []
                case.children += _ways_of(part, automaton)
    return case


def _ways_of(atom: TestPart, automaton: Automaton) -> list[tuple[GuideNode, bool]]:
    """What is counted, or read, is there."""
    test: Test | None = None
    if isinstance(atom, Count):
        test = has(atom.links)
    elif isinstance(atom, First):
        test = has(atom.links, Not(atom.test) if atom.fails else atom.test)
    return [_below([Link(test.path, test.test)], automaton)] if isinstance(test, Has) else []


def _below(links: list[Link], automaton: Automaton) -> tuple[GuideNode, bool]:
    return _chain(stretch_of(links)[1], automaton, is_result=False)
