"""The narrow side of a containment: all that is known where it holds, as nodes of a tree pattern.

A node has children (its branches), tests on itself, and *cases*: for each `or` the node over again, once with each
alternative. A case shares the node's children, so the whole stays as large as what was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from weft.documents.kind import Kind
from weft.plans.containment.label_tests import label_implies, labels_apart
from weft.plans.containment.steps import (
    Stretch,
    TestPart,
    TooLargeError,
    flat,
    from_document,
    links_of,
    placed,
    stretch_of,
)
from weft.plans.containment.values import Claim, claim, contradict
from weft.plans.plan import Always, Count, First, Has, Label, Link, Named, Not, Or, Pattern, Step, Test, Value, has

_MOST = 100_000  # nodes and their children, beyond which patterns are not compared


@dataclass(slots=True)
class Premise:
    """A node of the narrow pattern, and what is known about it. A step of none stands for the document."""

    step: Step | None
    is_result: bool
    children: list[tuple[int, bool]]  # the node, and whether it is further down rather than right below
    tests: list[TestPart] = field(default_factory=list)
    cases: list[list[int]] = field(default_factory=list)  # of each list one case holds
    claims: list[Claim] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    other_labels: list[Label] = field(default_factory=list)  # those that its name does not pass
    denied: list[TestPart] = field(default_factory=list)
    is_dead: bool = False  # no document has such a node

    @property
    def is_leaf(self) -> bool:
        """Whether it is an attribute or a text, below which nothing lies and whose name passes no test."""
        return self.step is not None and self.step.kind is not Kind.ELEMENT

    def is_named(self, label: Label) -> bool:
        """Whether its name surely passes a label test."""
        return any(label_implies(each, label) for each in self.labels) or (
            not isinstance(label, str) and all(map(self.is_not_named, label.labels))
        )

    def is_not_named(self, label: Label) -> bool:
        """Whether its name surely does not pass a label test."""
        return any(labels_apart(each, label) for each in self.labels) or any(
            label_implies(label, each) for each in self.other_labels
        )


class Premises:
    """The nodes, each behind its children and cases; the last is where they start from."""

    def __init__(self) -> None:
        self.nodes: list[Premise] = []
        self.parents: dict[int, list[tuple[int, bool]]] = {}
        self.with_cases: list[int] = []
        self.labels: set[Label] = set()  # of all nodes, however they are asked for
        self.size = 0

    @property
    def is_dead(self) -> bool:
        """Whether it never holds."""
        return self.nodes[-1].is_dead

    def add(
        self, step: Step | None, tests: Iterable[Test], children: list[tuple[int, bool]], is_result: bool = False
    ) -> int:
        """Add a node that passes tests, and what they say about nodes below it."""
        node = Premise(step, is_result, list(children))
        if step is not None:
            node.labels.append(step.label)
        return self._add(node, [placed(test, step) for test in tests])

    def add_context(self, node: Premise, parts: Iterable[TestPart], children: list[tuple[int, bool]]) -> int:
        """Add a node of which no more is known than the other's name, and that it passes these tests."""
        return self._add(Premise(node.step, False, children, labels=list(node.labels)), parts)

    def _add(self, node: Premise, parts: Iterable[TestPart]) -> int:
        choices: list[Or] = []
        for part in flat(parts):
            node.tests.append(part)
            match part:
                case Has(path, test):
                    node.children += self.below([Link(path, test)])
                case Or():
                    choices.append(part)
                case Value():
                    node.claims.append(claim(part, True))
                case Not(Value() as value):
                    node.claims.append(claim(value, False))
                case Named(label):
                    node.labels.append(label)
                    node.is_dead |= node.is_leaf
                case Not(Named(label)):
                    node.other_labels += [] if node.is_leaf else [label]
                case Not(test):
                    node.denied.append(test)
                case Count(links):
                    self._add_way(node, has(links))
                case First(links, value, fails):
                    self._add_way(node, has(links, Not(value) if fails else value))
                case Always(value):
                    node.is_dead |= not value
        node.cases = [[self._case(node, part) for part in choice.tests] for choice in choices]
        return self._append(node)

    def _add_way(self, node: Premise, test: Test) -> None:
        """There is a node that links lead to, whatever else is known of it."""
        if isinstance(test, Has):
            node.children += self.below([Link(test.path, test.test)])

    def _case(self, node: Premise, part: TestPart) -> int:
        case = Premise(node.step, node.is_result, list(node.children), is_dead=node.is_dead)
        case.tests = [test for test in node.tests if not isinstance(test, Or)]
        case.claims, case.labels = list(node.claims), list(node.labels)
        case.other_labels, case.denied = list(node.other_labels), list(node.denied)
        return self._add(case, [part])

    def _append(self, node: Premise) -> int:
        self.size += 1 + len(node.children) + len(node.tests)
        if self.size > _MOST:
            raise TooLargeError
        node.is_dead = node.is_dead or self._is_impossible(node)
        self.labels.update(node.labels)
        for child, deep in node.children:
            self.parents.setdefault(child, []).append((len(self.nodes), deep))
        if node.cases:
            self.with_cases.append(len(self.nodes))
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _is_impossible(self, node: Premise) -> bool:
        return (
            any(self.nodes[child].is_dead for child, _ in node.children)
            or any(all(self.nodes[case].is_dead for case in cases) for cases in node.cases)
            or (node.is_leaf and bool(node.children))
            or contradict(node.claims)
            or any(map(node.is_not_named, node.labels))
        )

    def below(self, links: Iterable[Link], is_result: bool = False) -> list[tuple[int, bool]]:
        """Add the nodes that links from some node lead through; what comes back is their first, as its child."""
        return self.chain(stretch_of(links)[1], is_result)

    def chain(self, steps: Stretch, is_result: bool = False) -> list[tuple[int, bool]]:
        """Add one node for each step, each the child of the one before."""
        children: list[tuple[int, bool]] = []
        for step, tests in reversed(steps):
            children = [(self.add(step, tests, children, is_result), step.deep)]
            is_result = False
        return children


@lru_cache(maxsize=4_096)
def premises_of(pattern: Pattern) -> Premises:
    """What is known of a document in which a pattern holds nodes."""
    premises = Premises()
    here, steps = stretch_of(links_of(pattern))
    premises.add(None, here, premises.chain(from_document(steps), is_result=True))
    return premises


def premises_at(node: Premise, parts: Iterable[TestPart], links: Iterable[Link] = ()) -> Premises:
    """What is known where tests hold at such a node, and links lead from it to the result.

    Of the node itself only the name is known: with its tests in, each `not` in a `not` would double what there is.
    """
    premises = Premises()
    premises.add_context(node, parts, premises.below(links, is_result=True))
    return premises
