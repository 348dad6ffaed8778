"""Shapes in, their layouts out, each laid out once: for the blocks of a match, and for one that must not follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.joins.compile.shapes import Condition, Shape
from weft.joins.match.layout import At, NodeLayout, Star, lay_out

Nodes = tuple[int, ...]
_KEPT = 10_000  # shapes whose layouts are known


@dataclass(frozen=True, slots=True)
class ShapeLayout:
    """The layout of a shape, with the places that its output has, and those that an absence compares."""

    present: NodeLayout
    outputs: tuple[tuple[At, ...], ...]  # by block
    shown: frozenset[At]  # of these, and of those that an absence compares, the ones that are no pivots
    shown_stars: tuple[tuple[Star, tuple[At, ...]], ...]  # the stars that have some, and which
    absence: NodeLayout | None
    conditions: tuple[Condition, ...]  # of the absence

    def output(self, nodes: Sequence[int], parts: Sequence[Sequence[Any]]) -> tuple[Nodes, ...]:
        """The output, from the nodes of the pivots and those that stars show."""
        places_shown = (at for _, places in self.shown_stars for at in places)
        shown = dict(zip(places_shown, (node for part in parts for node in part), strict=True))
        numbers = self.present.numbers
        return tuple(
            tuple(nodes[numbers[at]] if at in numbers else shown[at] for at in places) for places in self.outputs
        )


class Layouts:
    """The layouts of shapes that were asked for."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Shape, ShapeLayout]] = {}  # by the identity of the shape

    def of(self, shape: Shape) -> ShapeLayout:
        """The layout of a shape."""
        known = self._known.get(id(shape))
        if known is None or known[0] is not shape:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[id(shape)] = shape, _made(shape)
        return known[1]


def _made(shape: Shape) -> ShapeLayout:
    sides = list(enumerate(shape.sides[: shape.present]))
    present = lay_out(sides, shape.conditions(shape.present))
    outputs = tuple(tuple((block, place) for place in side.output) for block, side in sides)
    shown = {at for places in outputs for at in places}
    absence: NodeLayout | None = None
    conditions: tuple[Condition, ...] = ()
    if shape.is_absence:
        conditions = shape.joins[-1].conditions
        shown.update(each.left for each in conditions)
        ends = Counter(each.right for each in conditions)
        absence = lay_out([(shape.present, shape.sides[-1])], (), {at for at, count in ends.items() if count > 1})
    shown = {at for at in shown if at not in present.numbers}
    stars = []
    for star in present.stars:
        places = tuple(member.at for member in star.members if member.at in shown)
        if places:
            stars.append((star, places))
    return ShapeLayout(present, outputs, frozenset(shown), tuple(stars), absence, conditions)
