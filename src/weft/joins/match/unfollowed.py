"""Bindings of a match and the documents that may follow them in, the output of those that none follows out.

What follows is a document with nodes for its own pivots. A value meets a condition with some of these, and a binding is
followed by those that all of its values meet; so values are told by whom they meet, as bits of a number, and a match
with many nodes costs as many kinds of values as there are, not all ways to take one of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weft.joins.compile.shapes import Condition
from weft.joins.match.assignments import Assignments, Spend
from weft.joins.match.bindings import Bindings
from weft.joins.match.layout import At
from weft.joins.match.layouts import Nodes, ShapeLayout
from weft.joins.match.value_sets import ValueSet

#: For each condition the values of one follower.
_Following = tuple[ValueSet, ...]


#: A node, if it is part of the output, and who follows it.
_Shown = tuple[int | None, int]


class Unfollowed:
    """Finds what is not followed."""

    def __init__(self, layout: ShapeLayout, assignments: Assignments, texts: dict[int, str], spend: Spend) -> None:
        self._layout, self._assignments, self._texts, self._spend = layout, assignments, texts, spend
        self._output = {at for places in layout.outputs for at in places}
        self._met: list[dict[int, int]] = [{} for _ in layout.conditions]  # whom each value meets

    def outputs(self, documents: Iterable[Bindings]) -> Iterator[tuple[Nodes, ...]]:
        """The distinct outputs of the bindings that no document follows."""
        found = self._assignments
        single = [found.single_value(each.left, each.values[0]) for each in self._layout.conditions]
        self._followers: list[_Following] = []
        for follower in (one for document in documents for one in self._of(document)):
            self._spend(1)
            if None not in single and all(
                self._meets(each, value, there)
                for each, value, there in zip(self._layout.conditions, single, follower, strict=True)
                if value is not None
            ):
                return  # whatever the binding is
            self._followers.append(follower)
        seen: set[tuple[Nodes, ...]] = set()
        for nodes in found:
            for output in self._of_pivots(nodes):
                if output not in seen:
                    seen.add(output)
                    yield output

    def _of(self, document: Bindings) -> Iterator[_Following]:
        """The followers that a document has, one for each way to give its pivots nodes."""
        layout, conditions = self._layout.absence, self._layout.conditions
        assert layout is not None, "the last block must not follow"
        block = len(self._layout.outputs)
        ways = Assignments(layout, {block: document}, self._texts, self._spend)
        for _ in ways:
            yield tuple(ways.values(each.right, each.values[1]) for each in conditions)

    def _meets(self, condition: Condition, value: int, there: ValueSet) -> bool:
        return ValueSet.of([value]).meets(condition.operator, there, self._texts)

    def _mask(self, number: int, value: int) -> int:
        """The followers with which a value meets a condition, as bits."""
        known = self._met[number].get(value)
        if known is None:
            condition, known = self._layout.conditions[number], 0
            self._spend(len(self._followers))
            for bit, follower in enumerate(self._followers):
                if self._meets(condition, value, follower[number]):
                    known |= 1 << bit
            self._met[number][value] = known
        return known

    def _followed(self, at: At, node: int) -> int:
        """By whom a node is followed, as far as its own conditions tell."""
        bits = (1 << len(self._followers)) - 1
        for number, each in enumerate(self._layout.conditions):
            if each.left == at:
                bits &= self._mask(number, self._assignments.value(at, each.values[0], node))
        return bits

    def _show(self, at: At, node: int) -> _Shown:
        return node if at in self._output else None, self._followed(at, node)

    def _of_pivots(self, nodes: list[int]) -> Iterator[tuple[Nodes, ...]]:
        """The outputs of the bindings with these nodes of pivots."""
        bits = (1 << len(self._followers)) - 1
        for at, number in self._layout.present.numbers.items():
            bits &= self._followed(at, nodes[number])
        parts: dict[tuple[int | None, ...], set[int]] = {(): {bits}}
        for star, _ in self._layout.shown_stars:
            options = {_told(option) for option in self._assignments.options(star, self._layout.shown, self._show)}
            longer: dict[tuple[int | None, ...], set[int]] = {}
            for shown, masks in parts.items():
                for more, mask in options:
                    self._spend(len(masks))
                    followed = longer.setdefault((*shown, *more), set())
                    if 0 not in followed:
                        followed.update(one & mask for one in masks)
                        if 0 in followed:
                            followed.intersection_update({0})  # one of these bindings is not followed: that is enough
            parts = longer
        for shown, masks in parts.items():
            if 0 in masks:
                yield self._layout.output(nodes, [shown])


def _told(option: Iterable[_Shown]) -> tuple[tuple[int | None, ...], int]:
    """What the members of a star are shown as: their nodes, and who follows all of them."""
    nodes, bits = [], -1
    for node, mask in option:
        nodes.append(node)
        bits &= mask
    return tuple(nodes), bits
