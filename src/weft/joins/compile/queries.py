"""Shapes in, openings out: how a query can begin when a document comes; equal shapes are one shared join."""

from __future__ import annotations

import numpy as np

from weft.columns.flags import CountedNumbers
from weft.columns.integers import Flags, Ints, Longs
from weft.joins.compile.extras import Extras
from weft.joins.compile.opening import Opening, SharedJoin, Subscriber, equated, join_of, openings_of
from weft.joins.compile.predicates import Predicates, WindowColumns
from weft.joins.compile.reach import ANY_LENGTH, TIME, WindowMeasure
from weft.joins.compile.shapes import Shape
from weft.joins.time.retention import Reach

__all__ = ["ANY_LENGTH", "Opening", "Queries", "SharedJoin", "Subscriber"]


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
            for variable in equated(shape):
                self.equated.add(variable)
            for opening in openings_of(shared):
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
        join = join_of(opening)
        self._measures[place], self._lengths[place] = self._window(opening)
        self._is_strict[place] = join is not None and join.operator != "JOIN"
        self._is_exact[place] = opening.is_exact
        self.extras.add(place, opening.extras)
        self.predicates.add(place, opening.pairs, self._window(opening))

    def _window(self, opening: Opening) -> WindowMeasure:
        """How far apart the two documents of an opening may be."""
        shape, join = opening.shared.shape, join_of(opening)
        if join is not None and join.window.documents is not None:
            stream = shape.sides[opening.partner].stream  # that of the earlier one
            return self._measure(stream), join.window.documents
        first, last = sorted((opening.newest, opening.partner))
        between = range(shape.present - 1) if shape.has_spans else range(first, last)
        windows = [shape.joins[at].window for at in between]
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
        for variable in equated(shape):
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
