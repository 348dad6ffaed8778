"""Whether what is known on the narrow side meets all that the wide side demands, each node by some node.

From the bottom up each demand gets the set of premises that meet it. A demand may be met by different nodes in
different cases of an `or`; it is met at a node whose cases all meet it, whichever of its `or`s they belong to.
"""

from __future__ import annotations

from math import inf

from weft.documents.kind import Kind
from weft.plans.containment.demands import Alternatives, Demand, Demands, Descent, Requirement, demands_at
from weft.plans.containment.numbered import number_follows
from weft.plans.containment.premises import Premise, Premises, premises_at
from weft.plans.containment.steps import Placed, TestPart, TooLargeError
from weft.plans.containment.values import claim, follows
from weft.plans.plan import Count, First, Has, Label, Link, Named, Not, Step, Value

_MOST_PAIRS = 10_000_000  # of a node of each side: some seconds


def meets(premises: Premises, demands: Demands, by_result: bool) -> bool:
    """Whether the premises meet the demands; `by_result` asks that the result be the same node too."""
    if premises.is_dead:
        return True
    if not demands.labels <= premises.labels:
        return False
    if premises.size * demands.size > _MOST_PAIRS:
        raise TooLargeError
    return _Meeting(premises, by_result).holds(demands)


class _Meeting:
    """The premises that meet each demand, worked out once."""

    def __init__(self, premises: Premises, by_result: bool) -> None:
        self._premises, self._by_result = premises, by_result
        self._nodes = premises.nodes
        self._all = set(range(len(self._nodes)))
        self._by_label: dict[tuple[Kind, Label], set[int]] = {}
        self._dead = {at for at, node in enumerate(self._nodes) if node.is_dead}

    def holds(self, demands: Demands) -> bool:
        met: list[set[int]] = []
        for demand in demands.nodes:
            found = self._named(demand)
            for requirement in demand.requirements:
                found &= self._meeting(requirement, met)
            met.append(found | self._dead)
        return len(self._nodes) - 1 in met[-1]

    def _named(self, demand: Demand) -> set[int]:
        """The premises of the demand's kind and name, and its result if that matters."""
        found = self._passing(demand.step)
        if demand.is_result and self._by_result:
            found = {at for at in found if self._nodes[at].is_result}
        return set(found)

    def _passing(self, step: Step | None) -> set[int]:
        if step is None:
            return self._all
        key = step.kind, step.label
        if key not in self._by_label:
            self._by_label[key] = {
                at
                for at, node in enumerate(self._nodes)
                if node.step is not None and node.step.kind is step.kind and node.is_named(step.label)
            }
        return self._by_label[key]

    def _meeting(self, requirement: Requirement, met: list[set[int]]) -> set[int]:
        match requirement:
            case Descent(demand, levels, at_least):
                found = met[demand]
                if at_least:
                    return self._far_above(found, levels)
                for _ in range(levels):
                    found = self._right_above(found)
                return found
            case Alternatives(demands, test):
                found = {at for at, node in enumerate(self._nodes) if test in node.tests}
                return self._by_cases(found.union(*(met[demand] for demand in demands)))
            case _:
                return self._by_cases({at for at, node in enumerate(self._nodes) if implies(node, requirement)})

    def _by_cases(self, found: set[int]) -> set[int]:
        """These, and nodes all of whose cases are among them."""
        found |= self._dead
        for at in self._premises.with_cases:
            if at not in found and any(found.issuperset(cases) for cases in self._nodes[at].cases):
                found.add(at)
        return found

    def _right_above(self, found: set[int]) -> set[int]:
        parents = self._premises.parents
        return self._by_cases({parent for at in found for parent, deep in parents.get(at, ()) if not deep})

    def _far_above(self, found: set[int], levels: int) -> set[int]:
        """Nodes that are surely so many levels or more above one of these."""
        above = [-inf] * len(self._nodes)
        for at, node in enumerate(self._nodes):
            if node.is_dead:
                above[at] = inf
                continue
            ways = [1 + max(above[child], 0 if child in found else -inf) for child, _ in node.children]
            ways += [min((above[case] for case in cases), default=inf) for cases in node.cases]
            above[at] = max(ways, default=-inf)
        return {at for at, far in enumerate(above) if far >= levels}


# -- one node


def implies(node: Premise, asked: TestPart) -> bool:
    """Whether a node surely passes a test, by what is known of itself and of what it must not have."""
    if asked in node.tests:
        return True
    match asked:
        case Value():
            return follows(node.claims, claim(asked, True))
        case Not(Value() as value):
            return follows(node.claims, claim(value, False))
        case Named(label):
            return not node.is_leaf and node.is_named(label)
        case Not(Named(label)):
            return node.is_leaf or node.is_not_named(label)
        case Not(Has()) if node.is_leaf:
            return True
        case Not(test):
            return _is_denied(node, test)
        case Count():
            return any(isinstance(test, Count) and _count_follows(node, test, asked) for test in node.tests)
        case First():
            return any(isinstance(test, First) and _first_follows(test, asked) for test in node.tests)
        case Placed():
            return any(isinstance(test, Placed) and _place_follows(test, asked) for test in node.tests)
        case _:
            return False


def _is_denied(node: Premise, test: TestPart) -> bool:
    """Whether a node surely fails a test: something that it is known not to pass would follow from it."""
    if isinstance(test, Count) and any(
        isinstance(known, Count)
        and known.links == test.links
        and number_follows((known.operator, known.number), (test.operator, test.number), is_asked=False)
        for known in node.tests
    ):
        return True
    premises = premises_at(node, [test])
    return premises.is_dead or any(meets(premises, demands_at([other]), by_result=False) for other in node.denied)


def _count_follows(node: Premise, known: Count, asked: Count) -> bool:
    relation, wanted = (known.operator, known.number), (asked.operator, asked.number)
    if known.links == asked.links:
        return number_follows(relation, wanted)
    is_bound_from_below = asked.operator in (">", ">=")  # more nodes are at least as many
    return is_bound_from_below and number_follows(relation, wanted) and _links_contain(node, asked.links, known.links)


def _links_contain(node: Premise, wide: tuple[Link, ...], narrow: tuple[Link, ...]) -> bool:
    """Whether all nodes that the narrow links lead to from a node are among those that the wide ones lead to."""
    if not wide[0].path or not narrow[0].path:
        return False
    return meets(premises_at(node, [], narrow), demands_at([], wide), by_result=True)


def _first_follows(known: First, asked: First) -> bool:
    """Of the same links the same node is the first."""
    return known.links == asked.links and follows(
        [claim(known.test, not known.fails)], claim(asked.test, not asked.fails)
    )


def _place_follows(known: Placed, asked: Placed) -> bool:
    """Positions count the same siblings if they stand at equal steps behind equal predicates."""
    if known.step != asked.step or known.rank.before != asked.rank.before:
        return False
    return number_follows((known.rank.operator, known.rank.number), (asked.rank.operator, asked.rank.number))
