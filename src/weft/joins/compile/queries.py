"""Shapes in, openings out: how a query can begin when a document comes; equal shapes are one shared join."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weft.columns.flags import CountedNumbers
from weft.columns.integers import Flags, Ints, Longs
from weft.joins.compile.extras import Extra, Extras
from weft.joins.compile.predicates import Predicates, WindowColumns
from weft.joins.compile.reach import ANY_LENGTH as ANY_LENGTH
from weft.joins.compile.reach import TIME, Measured
from weft.joins.compile.shapes import Condition, Joined, Shape
from weft.joins.output.outputs import Writing
from weft.joins.time.retention import Reach

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


class Queries:
    """All shapes and openings; what the second stage asks for about openings is in columns."""

    def __init__(self) -> None:
        self.predicates = Predicates()
        self.shared: dict[Shape, SharedJoin] = {}
        self.reach = Reach()
        self.openings: list[Opening | None] = []
        self._free: list[int] = []  # places of openings that are gone
        self.single: dict[int, list[SharedJoin]] = {}  # by the top variable: those that begin with one document
        self.tops = CountedNumbers()  # these variables
        self.equated = CountedNumbers()  # the variables whose values are to be found again
        self.extras = Extras()
        self.measured: list[str] = [""]  # the streams that windows count, by their numbers; the first stands for time
        self._measured: dict[str, int] = {}
        self._measures: Ints = np.zeros(64, np.int32)  # by opening, as the next five
        self._lengths: Longs = np.zeros(64, np.int64)
        self._is_strict: Flags = np.zeros(64, bool)
        self._is_exact: Flags = np.zeros(64, bool)
        self._sizes: Longs = np.zeros(64, np.int64)
        self._publishers: Longs = np.zeros(64, np.int64)
        self.absent = 0  # how many shapes wait for something not to come
        self.since = 0  # the latest that any subscriber begins with

    def add(self, number: int, shape: Shape, subscriber: Subscriber) -> None:
        """A subscriber more."""
        shared = self.shared.get(shape)
        if shared is None:
            shared = self.shared[shape] = SharedJoin(shape, subscriber.since)
            self.absent += shape.is_absence
            self.reach.add(shape)
            if shape.present == 1:
                self.single.setdefault(shape.sides[0].top, []).append(shared)
                self.tops.add(shape.sides[0].top)
            for variable in _equated(shape):
                self.equated.add(variable)
            for opening in _openings(shared):
                self._add_opening(shared, opening)
        shared.since = min(shared.since, subscriber.since)
        shared.subscribers[number] = subscriber
        self.since = max(self.since, subscriber.since)
        self._count(shared, subscriber, 1)

    def _add_opening(self, shared: SharedJoin, opening: Opening) -> None:
        place = self._free.pop() if self._free else len(self.openings)
        self.openings[place : place + 1] = [opening]
        shared.openings.append(place)
        if place == self._lengths.size:
            for name in ("_measures", "_lengths", "_is_strict", "_is_exact", "_sizes", "_publishers"):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        join = _join_of(opening)
        self._measures[place], self._lengths[place] = self._window(opening)
        self._is_strict[place] = join is not None and join.operator != "JOIN"
        self._is_exact[place] = opening.is_exact
        self.extras.add(place, opening.extras)
        self.predicates.add(place, opening.pairs, self._window(opening))

    def _window(self, opening: Opening) -> Measured:
        """How far apart the two documents of an opening may be."""
        shape, join = opening.shared.shape, _join_of(opening)
        if join is not None and join.window.documents is not None:
            stream = shape.sides[opening.partner].stream  # that of the earlier one
            return self._measure(stream), join.window.documents
        first, last = sorted((opening.newest, opening.partner))
        windows = [shape.joins[at].window for at in range(first, last)]
        if any(window.nanoseconds is None for window in windows):
            return TIME, ANY_LENGTH
        return TIME, min(sum(window.nanoseconds or 0 for window in windows), ANY_LENGTH)

    def _measure(self, stream: str) -> int:
        """The number of a stream whose documents windows count; one without a name stands for all of them."""
        if stream not in self._measured:
            self._measured[stream] = len(self.measured)
            self.measured.append(stream)
        return self._measured[stream]

    def _count(self, shared: SharedJoin, subscriber: Subscriber, more: int) -> None:
        """A subscriber has come (1) or gone (-1)."""
        shared.publishers += more * (subscriber.publish is not None)
        self._sizes[shared.openings] = len(shared.subscribers)
        self._publishers[shared.openings] = shared.publishers

    @property
    def ways(self) -> int:
        """How many openings there are."""
        return len(self.openings) - len(self._free)

    def replace(self, number: int, shape: Shape, subscriber: Subscriber) -> None:
        """Another subscriber in the place of one."""
        shared = self.shared[shape]
        shared.subscribers[number] = subscriber
        shared.since = min(each.since for each in set(shared.subscribers.values()))
        self.since = max(self.since, subscriber.since)

    def remove(self, number: int, shape: Shape) -> None:
        """A subscriber fewer; the last one takes the shape along."""
        shared = self.shared[shape]
        self._count(shared, shared.subscribers.pop(number), -1)
        if shared.subscribers:
            return
        del self.shared[shape]
        self.absent -= shape.is_absence
        self.reach.remove(shape)
        for variable in _equated(shape):
            self.equated.remove(variable)
        for place in shared.openings:
            opening = self.openings[place]
            assert opening is not None
            self.predicates.remove(place, opening.pairs, self._window(opening))
            self.extras.remove(place, opening.extras)
            self.openings[place] = None
            self._free.append(place)
        if shape.present == 1:
            single = self.single[shape.sides[0].top]
            single.remove(shared)
            self.tops.remove(shape.sides[0].top)
            if not single:
                del self.single[shape.sides[0].top]

    @property
    def windows(self) -> WindowColumns:
        """For each opening what its window is measured in, and its length."""
        size = len(self.openings)
        return WindowColumns(self._measures[:size], self._lengths[:size])

    def columns(self) -> tuple[Flags, Flags]:
        """For each opening whether the later document is strictly later, and whether it is exact."""
        size = len(self.openings)
        return self._is_strict[:size], self._is_exact[:size]

    def publishes(self, openings: Ints) -> bool:
        """Whether messages of some of these openings become documents."""
        return bool(self._publishers[openings].any())

    def sizes(self) -> Longs:
        """For each opening how many subscribers it has."""
        return self._sizes[: len(self.openings)]


def _join_of(opening: Opening) -> Joined | None:
    """The join between the two documents of an opening, if their blocks are neighbours."""
    if abs(opening.newest - opening.partner) != 1:
        return None
    return opening.shared.shape.joins[max(opening.newest, opening.partner) - 1]


def _equated(shape: Shape) -> list[int]:
    conditions = [each for join in shape.joins for each in join.conditions if each.operator == "="]
    return [variable for each in conditions for variable in each.values]


def _openings(shared: SharedJoin) -> list[Opening]:
    """One for each block that the newest document can be of: the last one, and those before a JOIN."""
    shape = shared.shape
    found = []
    for newest in range(shape.present):
        if newest < shape.present - 1 and shape.joins[newest].operator != "JOIN":
            continue
        conditions = shape.joins[max(newest, 1) - 1].conditions if shape.present > 1 else ()
        equalities = [each for each in conditions if each.operator == "="]
        if not equalities:
            continue
        partner = 1 if newest == 0 else max(each.left[0] for each in equalities)
        pairs = frozenset(
            _pair(each, newest) for each in equalities if {each.left[0], each.right[0]} == {newest, partner}
        )
        found.append(Opening(shared, newest, partner, pairs))
    return found


def _pair(condition: Condition, newest: int) -> tuple[int, int]:
    """The variables whose values an equality compares, the newest document's last."""
    earlier, later = condition.values if condition.right[0] == newest else condition.values[::-1]
    return earlier, later
