"""Shapes in, openings out: how a query can begin when a document comes."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from weft.joins.compile.extras import Extra
from weft.joins.compile.shapes import Condition, Joined, Shape
from weft.joins.output.outputs import Writing

VariablePairs = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Who gets the messages of a shape, from which document on, how they are written, and the stream that they are."""

    since: int
    written: Writing
    publish: str | None


@dataclass(frozen=True)
class Opening:
    """A way to begin: the newest document is that of one block, an earlier one that of a partner."""

    shared: SharedJoin
    newest: int
    partner: int
    pairs: VariablePairs  # variables with equal values, the earlier document's first

    @property
    def is_exact(self) -> bool:
        """Whether two documents that have the opening's values, and pass what else it asks, match.

        They do if no pivot has several nodes: conditions then meet at nodes that are the only ones.
        """
        shape = self.shared.shape
        return shape.present == len(shape.sides) == 2

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        """What the two documents must pass beside the equalities; necessary even where it is not all."""
        shape, found = self.shared.shape, set()
        given = {self.newest, self.partner}
        for condition in shape.conditions(shape.present):
            if {condition.left[0], condition.right[0]} == given and condition.operator != "=":
                found.add(Extra.of(condition, is_flipped=self.newest == condition.left[0]))
        if self.is_exact:
            for block, side in enumerate(shape.sides):
                for place, variable in enumerate(side.variables):
                    if place not in side.parents and not self._ends[block, place]:
                        found.add(Extra.existence(variable, is_earlier=block == self.partner))
        return tuple(sorted(found))

    @cached_property
    def pivots(self) -> frozenset[int]:
        """The variables that must be one node for several others: those above others, and those compared twice.

        Any other may have several nodes: each of its conditions is met by one of them, whatever else is met.
        """
        sides = self.shared.shape.sides
        return frozenset(
            side.variables[place]
            for block, side in enumerate(sides)
            for place in range(len(side.variables))
            if place in side.parents or self._ends[block, place] > 1
        )

    @cached_property
    def order(self) -> tuple[tuple[int, Condition], ...]:
        """The other blocks, each with an equality that leads to it from those before: the first block that one does."""
        shape, given = self.shared.shape, {self.newest, self.partner}
        equalities = [each for each in shape.conditions(shape.present) if each.operator == "="]
        of_block: dict[int, list[int]] = {}
        for at, each in enumerate(equalities):
            for end in (each.left[0], each.right[0]):
                of_block.setdefault(end, []).append(at)
        reached: list[tuple[int, int]] = []  # a block, and the equality

        def reach(block: int) -> None:
            for at in of_block.get(block, ()):
                for end in (equalities[at].left[0], equalities[at].right[0]):
                    if end not in given:
                        heapq.heappush(reached, (end, at))

        found = []
        for block in sorted(given):
            reach(block)
        while reached:
            block, at = heapq.heappop(reached)
            if block not in given:
                given.add(block)
                found.append((block, equalities[at]))
                reach(block)
        return tuple(found)

    @cached_property
    def _ends(self) -> Counter[tuple[int, int]]:
        conditions = self.shared.shape.joins[0].conditions
        return Counter(end for condition in conditions for end in (condition.left, condition.right))


@dataclass(slots=True, eq=False)
class SharedJoin:
    """A shape with its subscribers by their numbers."""

    shape: Shape
    since: int  # the first document, as they come, that any of them sees
    subscribers: dict[int, Subscriber] = field(default_factory=dict)
    openings: list[int] = field(default_factory=list)
    publishers: int = 0  # how many of them publish their messages


def join_of(opening: Opening) -> Joined | None:
    """The join between the two documents of an opening, if their blocks are neighbours."""
    shape = opening.shared.shape
    join = shape.joins[max(opening.newest, opening.partner) - 1]
    return join if abs(opening.newest - opening.partner) == 1 and join.span is None else None


def equated(shape: Shape) -> list[int]:
    conditions = [each for join in shape.joins for each in join.conditions if each.operator == "="]
    return [variable for each in conditions for variable in each.values]


def openings_of(shared: SharedJoin) -> list[Opening]:
    """One for each block that the newest document can be of: one that nothing must follow."""
    shape = shared.shape
    equalities = [each for each in shape.conditions(shape.present) if each.operator == "="]
    joins = [join for join in range(shape.present - 1) if shape.joins[join].operator != "JOIN"]
    followed = {block for join in joins for block in shape.ends(join)[0]}
    found = []
    for newest in range(shape.present):
        before = [each.left[0] for each in equalities if each.right[0] == newest]
        behind = [each.right[0] for each in equalities if each.left[0] == newest]
        if newest in followed or not before + behind:
            continue
        partner = max(before) if before else min(behind)
        pairs = frozenset(
            _pair(each, newest) for each in equalities if {each.left[0], each.right[0]} == {newest, partner}
        )
        found.append(Opening(shared, newest, partner, pairs))
    return found


def _pair(condition: Condition, newest: int) -> tuple[int, int]:
    """The variables whose values an equality compares, the newest document's last."""
    earlier, later = condition.values if condition.right[0] == newest else condition.values[::-1]
    return earlier, later
