"""Shapes as they come and go, and whether a document can still be reached by some window of theirs."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from weft.documents.moment import END, START
from weft.joins.compile.shapes import Hop, Shape
from weft.joins.match.state import Held, State

_ENDLESS = END - START
Hops = tuple[Hop, ...]


@dataclass(slots=True)
class _StreamReach:
    """The ways from the blocks on one stream, and how many blocks have each."""

    blocks: Counter[Hops] = field(default_factory=Counter)
    counted: set[Hops] = field(default_factory=set)  # those with a window in documents
    lengths: Counter[int] = field(default_factory=Counter)  # how many ways of the others have each length
    longest_first: list[int] = field(default_factory=list)  # a heap of negative lengths; some may be gone

    def add(self, way: Hops) -> None:
        self.blocks[way] += 1
        if self.blocks[way] > 1:
            return
        if _is_counted(way):
            self.counted.add(way)
            return
        length = _length(way)
        self.lengths[length] += 1
        if self.lengths[length] == 1:
            heapq.heappush(self.longest_first, -length)

    def remove(self, way: Hops) -> None:
        self.blocks[way] -= 1
        if self.blocks[way]:
            return
        del self.blocks[way]
        if _is_counted(way):
            self.counted.discard(way)
            return
        length = _length(way)
        self.lengths[length] -= 1
        if not self.lengths[length]:
            del self.lengths[length]

    def longest(self) -> int:
        """The most time that windows in time reach; less than nothing where there are none."""
        while self.longest_first and -self.longest_first[0] not in self.lengths:
            heapq.heappop(self.longest_first)
        return -self.longest_first[0] if self.longest_first else -_ENDLESS


class Reach:
    """How far windows lead from the documents of each stream; it takes the same time however many queries there are."""

    def __init__(self) -> None:
        self._streams: dict[str, _StreamReach] = {}

    def add(self, shape: Shape) -> None:
        """A shape comes."""
        for stream, way in shape.ways():
            if stream not in self._streams:
                self._streams[stream] = _StreamReach()
            self._streams[stream].add(way)

    def remove(self, shape: Shape) -> None:
        """A shape goes."""
        for stream, way in shape.ways():
            self._streams[stream].remove(way)
            if not self._streams[stream].blocks:
                del self._streams[stream]

    def make_is_over(self, state: State, watermark: int) -> Callable[[Held], bool]:
        """The test that a document is out of reach: nothing that is still to come can be in a match with it."""
        ways: dict[str, tuple[int, set[Hops]]] = {}
        kept_from: dict[str, int] = {}  # the earliest document of a stream that is not over: no later one is

        def is_over(one: Held) -> bool:
            stream = one.document.stream
            if one.timestamp >= kept_from.get(stream, END):
                return False
            if stream not in ways:
                ways[stream] = self._from(stream)
            length, counted = ways[stream]
            over = one.timestamp + length < watermark
            over = over and all(_end(way, one.timestamp, state) < watermark for way in counted)
            if not over:
                kept_from[stream] = one.timestamp
            return over

        return is_over

    def _from(self, stream: str) -> tuple[int, set[Hops]]:
        """The most time that windows in time reach from a stream's documents, and the ways of other windows."""
        names = ("", stream) if stream else tuple(self._streams)  # a document without a stream is for every query
        some = [self._streams[name] for name in names if name in self._streams]
        longest = max((each.longest() for each in some), default=-_ENDLESS)
        return longest, set().union(*(each.counted for each in some))


def _is_counted(way: Hops) -> bool:
    return any(window.documents is not None for window, _ in way)


def _length(way: Hops) -> int:
    return sum(_ENDLESS if window.nanoseconds is None else window.nanoseconds for window, _ in way)


def _end(way: Hops, timestamp: int, state: State) -> int:
    """The latest moment that a way can lead to: each window goes on from where the one before can end at the latest."""
    for window, stream in way:
        if window.nanoseconds is not None:
            timestamp += window.nanoseconds
        elif window.documents is None:
            return END
        else:
            last = state.history.later(stream, timestamp, window.documents)
            if last is None:
                return END
            timestamp = last[1]
    return timestamp
