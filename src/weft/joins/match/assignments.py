"""A layout and the bindings of documents in, nodes for all pivots out, and what stars have beside them.

Pivots get their nodes one after the other; what can be decided by then is, by sets of values. Where a pivot has many
nodes they are found from the values that a condition allows, not gone through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import product
from typing import Any

from weft.joins.match.bindings import Bindings
from weft.joins.match.layout import At, Half, NodeLayout, Pivot, Star, StarMember
from weft.joins.match.value_sets import ValueSet

_MANY = 4  # nodes of a pivot that are gone through whatever a condition allows
#: Is told how many nodes are tried.
Spend = Callable[[int], None]
#: What a node of a place is shown as.
Show = Callable[[At, int], Any]


class Assignments:
    """The ways to give the places of a layout nodes."""

    def __init__(self, layout: NodeLayout, found: dict[int, Bindings], texts: dict[int, str], spend: Spend) -> None:
        self._layout, self._found, self._texts, self._spend = layout, found, texts, spend
        self.nodes: list[int] = []  # of the pivots so far

    def __iter__(self) -> Iterator[list[int]]:
        """Nodes for all pivots, so that all conditions are met; the same list each time."""
        if not all(self._has_nodes(star) for star in self._layout.first):
            return
        pivots = self._layout.pivots
        if not pivots:
            yield self.nodes
            return
        left = [self._choices(0)]
        while left:
            number = len(left) - 1
            del self.nodes[number:]
            node = next(left[-1], None)
            if node is None:
                left.pop()
                continue
            self.nodes.append(node)
            if not all(self._has_nodes(star) for star in pivots[number].stars):
                continue
            if len(left) == len(pivots):
                yield self.nodes
            else:
                left.append(self._choices(number + 1))

    def _choices(self, number: int) -> Iterator[int]:
        """The nodes that a pivot may have, as far as pivots before it tell."""
        pivot = self._layout.pivots[number]
        nodes = self._narrowed(pivot, number, self._below(pivot))
        self._spend(len(nodes) + 1)
        return iter([node for node in nodes if all(self._passes(pivot.at, node, half) for half in pivot.filters)])

    def _below(self, place: Pivot | StarMember) -> list[int]:
        """The nodes of a place, where the pivot above has its node."""
        here = self._found[place.at[0]]
        return here.nodes(place.variable) if place.above < 0 else here.below(place.edge, self.nodes[place.above])

    def _narrowed(self, pivot: Pivot, number: int, nodes: list[int]) -> list[int]:
        """The nodes of a pivot, or where they are many those that an equality leads to, if these are fewer."""
        if len(nodes) <= _MANY:
            return nodes
        here, best = self._found[pivot.at[0]], None
        for allowed in (*self._equal(pivot), *self._above_equal(pivot, number)):
            if best is None or len(allowed) < len(best):
                best = allowed
        if best is None or len(best) >= len(nodes):
            return nodes
        if pivot.above < 0:
            return sorted(best)
        above = self.nodes[pivot.above]
        return sorted(node for node in best if here.is_below(pivot.edge, above, node))

    def _equal(self, pivot: Pivot) -> Iterator[set[int]]:
        """The nodes that each equality with a pivot before allows."""
        here = self._found[pivot.at[0]]
        for half in pivot.filters:
            if half.operator == "=":
                yield set(here.valued(half.variable, self._value(half)))

    def _above_equal(self, pivot: Pivot, number: int) -> Iterator[set[int]]:
        """The nodes above those that each equality of a star allows, where the other end is known."""
        here = self._found[pivot.at[0]]
        for star in pivot.stars:
            center = star.members[0]
            for member in star.members:
                own = member.above == number
                for half in member.filters:
                    if own and half.operator == "=" and self._layout.numbers[half.other] < number:
                        yield self._tops(here, member, {self._value(half)}, half.variable)
                link = member.link
                if link is None or link.operator != "=" or own == (center.above == number):
                    continue
                ends = (member, link.variable), (center, link.other_variable)
                (mine, variable), (other, asked) = ends if own else ends[::-1]
                yield self._tops(here, mine, self._set(other, asked).codes, variable)

    def _tops(self, here: Bindings, member: StarMember, values: set[int], variable: int) -> set[int]:
        self._spend(len(values))
        return {
            above
            for value in values
            for node in here.valued(variable, value)
            for above in here.above(member.edge, node)
        }

    def _value(self, half: Half) -> int:
        """The value of the pivot at the other end of a condition."""
        block, number = half.other[0], self._layout.numbers[half.other]
        return self._found[block].values(half.other_variable)[self.nodes[number]]

    def _passes(self, at: At, node: int, half: Half) -> bool:
        """Whether a node meets a condition with a pivot."""
        value = self._found[at[0]].values(half.variable)[node]
        return ValueSet.of([value]).meets(half.operator, ValueSet.of([self._value(half)]), self._texts)

    # -- values

    def value(self, at: At, variable: int, node: int) -> int:
        """The value of a place's node."""
        return self._found[at[0]].values(variable)[node]

    def single_value(self, at: At, variable: int) -> int | None:
        """The value of a place's node in every assignment, if it has but one."""
        here = self._found[at[0]]
        nodes = here.nodes(variable)
        return here.values(variable)[nodes[0]] if len(nodes) == 1 else None

    def values(self, at: At, variable: int) -> ValueSet:
        """The values that a place may have with the pivots as they are."""
        number = self._layout.numbers.get(at)
        if number is not None:
            return ValueSet.of([self.value(at, variable, self.nodes[number])])
        member = next(member for star in self._layout.stars for member in star.members if member.at == at)
        return self._set(member, variable)

    # -- stars

    def _set(self, member: StarMember, variable: int) -> ValueSet:
        """The values of a member's nodes, whatever its conditions with pivots."""
        above = -1 if member.above < 0 else self.nodes[member.above]
        return self._found[member.at[0]].set_below(member.edge, above, variable, self._below(member))

    def _candidates(self, member: StarMember) -> list[int]:
        """The nodes of a member that meet its conditions with pivots."""
        nodes = self._below(member)
        for half in member.filters:
            self._spend(len(nodes))
            nodes = [node for node in nodes if self._passes(member.at, node, half)]
        return nodes

    def _allowed(self, star: Star) -> list[int]:
        """The nodes of a star's center for which all others have nodes too."""
        center = star.members[0]
        nodes, values = self._candidates(center), self._found[center.at[0]]
        for member in star.members[1:]:
            link = member.link
            assert link is not None, "who is no center is compared with it"
            there = self._set_of(member, link.variable)
            self._spend(len(nodes))
            of_center = values.values(link.other_variable)
            if link.operator == "=":
                nodes = [node for node in nodes if of_center[node] in there.codes]
            else:
                nodes = [
                    node for node in nodes if there.meets(link.operator, ValueSet.of([of_center[node]]), self._texts)
                ]
        return nodes

    def _set_of(self, member: StarMember, variable: int) -> ValueSet:
        """The values of a member's nodes that meet its conditions with pivots."""
        if not member.filters:
            return self._set(member, variable)
        values = self._found[member.at[0]].values(variable)
        return ValueSet.of(values[node] for node in self._candidates(member))

    def _has_nodes(self, star: Star) -> bool:
        """Whether a star has nodes."""
        center = star.members[0]
        if center.filters or len(star.members) > 2:
            return bool(self._allowed(star))
        if len(star.members) == 1:
            return bool(self._below(center))
        member = star.members[1]
        link = member.link
        assert link is not None, "who is no center is compared with it"
        one, other = self._set_of(member, link.variable), self._set(center, link.other_variable)
        self._spend(min(len(one.codes), len(other.codes)))
        return one.meets(link.operator, other, self._texts)

    def options(self, star: Star, shown: Collection[At], show: Show) -> list[tuple[Any, ...]]:
        """What the members of a star that are shown may be shown as, a tuple in their order, each once."""
        center, *others = star.members
        others = [member for member in others if member.at in shown]
        candidates = [self._candidates(member) for member in others]
        found: dict[tuple[Any, ...], None] = {}
        known: dict[tuple[int, ...], list[tuple[Any, ...]]] = {}
        here = self._found[center.at[0]]
        for node in self._allowed(star):
            linked = tuple(here.values(each.link.other_variable)[node] for each in others if each.link is not None)
            if linked not in known:
                each = [self._matching(*one, show) for one in zip(others, candidates, linked, strict=True)]
                known[linked] = list(product(*each))
            elif center.at not in shown:
                continue
            first = (show(center.at, node),) if center.at in shown else ()
            for rest in known[linked]:
                self._spend(1)
                found[*first, *rest] = None
        return list(found)

    def _matching(self, member: StarMember, nodes: list[int], value: int, show: Show) -> list[Any]:
        """What a member may be shown as beside a value of the center."""
        link, here = member.link, self._found[member.at[0]]
        assert link is not None, "who is no center is compared with it"
        if link.operator == "=" and member.above < 0 and not member.filters:
            nodes = here.valued(link.variable, value)
        self._spend(len(nodes))
        values, wanted = here.values(link.variable), ValueSet.of([value])
        matching = [node for node in nodes if ValueSet.of([values[node]]).meets(link.operator, wanted, self._texts)]
        return list(dict.fromkeys(show(member.at, node) for node in matching))
