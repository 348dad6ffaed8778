"""The wide side of a containment: all that must hold, as nodes of a tree pattern with a way down for each branch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from weft.documents.kind import Kind
from weft.plans.containment.label_tests import is_name
from weft.plans.containment.numbered import number_follows
from weft.plans.containment.steps import (
    Placed,
    Stretch,
    TestPart,
    TooLargeError,
    flat,
    from_document,
    links_of,
    placed,
    stretch_of,
)
from weft.plans.plan import Always, Count, Has, Label, Link, Or, Pattern, Step, has

_MOST = 100_000  # nodes and steps, beyond which patterns are not compared


@dataclass(frozen=True, slots=True)
class Descent:
    """A node so many levels below that meets a demand; with `at_least` it may be further down.

    Steps by `*` that ask for nothing are levels, not nodes: so `a/*//b` and `a//*/b` are one and the same.
    """

    demand: int
    levels: int
    at_least: bool


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of some demands is met by the same node."""

    demands: tuple[int, ...]
    test: Or


Requirement = Descent | Alternatives | TestPart


@dataclass(slots=True)
class Demand:
    """A node of the wide pattern. One without a step is the document, or what some other demand is on."""

    step: Step | None
    is_result: bool
    requirements: list[Requirement] = field(default_factory=list)


class Demands:
    """The nodes, each behind those that it needs; the last is where they start from."""

    def __init__(self) -> None:
        self.nodes: list[Demand] = []
        self.labels: set[Label] = set()  # names that surely must be there
        self.size = 0
        self._in_choice = 0

    def add(
        self, step: Step | None, parts: Iterable[TestPart], descents: Iterable[Descent] = (), is_result: bool = False
    ) -> int:
        """Add a node that has to pass tests; each part is as `placed` makes it."""
        node = Demand(step, is_result, list(descents))
        for part in flat(parts):
            self._require(node, part)
        if step is not None and is_name(step.label) and not self._in_choice:
            self.labels.add(step.label)
        self.size += 1 + sum(each.levels if isinstance(each, Descent) else 1 for each in node.requirements)
        if self.size > _MOST:
            raise TooLargeError
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _require(self, node: Demand, part: TestPart) -> None:
        match part:
            case Always(True):
                pass
            case Has(path, test):
                node.requirements += self.below([Link(path, test)])
            case Or(tests):
                self._in_choice += 1
                node.requirements.append(Alternatives(tuple(self.add(None, [test]) for test in tests), part))
                self._in_choice -= 1
            case Count(links, operator, number) if number_follows(None, (operator, number)):
                self._require(node, has(links))
            case Placed(_, rank) if rank.before is None and number_follows(None, (rank.operator, rank.number)):
                pass
            case _:
                node.requirements.append(part)

    def below(self, links: Iterable[Link], is_result: bool = False) -> list[Descent]:
        """Add the nodes that links from some node lead through; what comes back is the way to their first."""
        return self.chain(stretch_of(links)[1], is_result)

    def chain(self, steps: Stretch, is_result: bool = False) -> list[Descent]:
        """Add one node for each step that asks for more than to be there."""
        descents: list[Descent] = []
        for step, tests in reversed(steps):
            is_level = step.label == "*" and step.kind is Kind.ELEMENT and not tests and bool(descents)
            if is_level:
                below = descents[0]
                descents = [Descent(below.demand, below.levels + 1, below.at_least or step.deep)]
            else:
                node = self.add(step, [placed(test, step) for test in tests], descents, is_result)
                descents = [self._descent(node, step.deep)]
            is_result = False
        return descents

    def _descent(self, node: int, deep: bool) -> Descent:
        """The way to a node, through it where it is a level only: `*[b]` asks for a `b` two levels down."""
        demand = self.nodes[node]
        is_any = demand.step is not None and demand.step.label == "*" and demand.step.kind is Kind.ELEMENT
        if is_any and not demand.is_result and not demand.requirements:
            return Descent(node, 1, at_least=True)  # where an element is further down, one is right below too
        if is_any and not demand.is_result and len(demand.requirements) == 1:
            (only,) = demand.requirements
            if isinstance(only, Descent):
                return Descent(only.demand, only.levels + 1, only.at_least or deep)
        return Descent(node, 1, deep)


@lru_cache(maxsize=4_096)
def demands_of(pattern: Pattern) -> Demands:
    """What a document must have so that a pattern holds nodes."""
    demands = Demands()
    here, steps = stretch_of(links_of(pattern))
    demands.add(None, [placed(test, None) for test in here], demands.chain(from_document(steps), is_result=True))
    return demands


def demands_at(parts: Iterable[TestPart], links: Iterable[Link] = ()) -> Demands:
    """What must hold at a node so that it passes tests, and links lead from it to the result."""
    demands = Demands()
    demands.add(None, parts, demands.below(links, is_result=True))
    return demands
