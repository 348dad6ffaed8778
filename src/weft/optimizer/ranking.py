"""Operators with their costs and selectivities in, the order to run them in out: predicate migration by rank.

The rank of an operator is (selectivity - 1) / cost. In ascending ranks they cost least; where one must come before
another although its rank is higher, the two have one rank together (Hellerstein's groups).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from operator import itemgetter

from weft.optimizer.pattern_tree import PatternTree


@dataclass(frozen=True, slots=True)
class Ranked:
    """Operators that follow each other: what they cost for each element that comes, and the share they let through."""

    members: tuple[int, ...]
    cost: float
    selectivity: float

    @property
    def rank(self) -> float:
        """What is free comes first if it lets anything fall."""
        gain = self.selectivity - 1
        return gain / self.cost if self.cost > 0 else (-inf if gain < 0 else 0.0)

    def then(self, other: Ranked) -> Ranked:
        """Both, one after the other."""
        cost = self.cost + self.selectivity * other.cost
        return Ranked(self.members + other.members, cost, self.selectivity * other.selectivity)


def migrate(
    tree: PatternTree, outside: Collection[int], cost: Callable[[int], float], selectivity: Callable[[int], float]
) -> tuple[int, ...]:
    """The order of the patterns that are out; each comes behind its parent."""

    def sequence(at: int | None) -> list[tuple[float, Ranked]]:
        """What is at or below a pattern, in ascending ranks."""
        below: list[tuple[float, Ranked]] = []
        for child in tree.children(at):
            below += sequence(child)
        below.sort(key=_by_rank)  # each child's are in order, and stay so where ranks are equal
        if at is None or at not in outside:
            return below
        first = Ranked((at,), cost(at), selectivity(at))
        followed = 0
        while followed < len(below) and below[followed][0] < first.rank:
            first = first.then(below[followed][1])
            followed += 1
        return [(first.rank, first), *below[followed:]]

    return tuple(member for _, group in sequence(None) for member in group.members)


_by_rank = itemgetter(0)
