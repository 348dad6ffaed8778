"""Matches that something must not follow in, those that nothing followed out, when their windows close."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from weft.joins.queries import Entry
from weft.joins.search import Nodes, Search
from weft.joins.state import Held, State


@dataclass(frozen=True, slots=True)
class Closed:
    """A match whose window has closed: when, and the distinct output nodes of the bindings that nothing followed."""

    entry: Entry
    documents: tuple[Held, ...]
    timestamp: float
    sequence: int  # of the next document then
    outputs: tuple[tuple[Nodes, ...], ...]


class Absences:
    """The matches whose windows are open; whether something followed is asked when they close."""

    def __init__(self, state: State, search: Search) -> None:
        self._state, self._search = state, search
        self._number = 0
        self._timed: list[tuple[float, int, Entry, tuple[Held, ...]]] = []  # by the end of the window
        self._counted: list[tuple[Entry, tuple[Held, ...]]] = []
        self._endless: list[tuple[Entry, tuple[Held, ...]]] = []

    def __len__(self) -> int:
        return len(self._timed) + len(self._counted) + len(self._endless)

    def __iter__(self) -> Iterator[tuple[Entry, tuple[Held, ...]]]:
        yield from ((entry, documents) for _, _, entry, documents in sorted(self._timed, key=lambda one: one[:2]))
        yield from self._counted
        yield from self._endless

    def wait(self, entry: Entry, documents: tuple[Held, ...]) -> None:
        """A match of the blocks before waits for its window to close."""
        window = entry.shape.joins[-1].window
        if window.seconds is not None:
            end = documents[-1].timestamp + window.seconds
            heapq.heappush(self._timed, (end, self._number, entry, documents))
            self._number += 1
        elif window.documents is not None:
            self._counted.append((entry, documents))
        else:
            self._endless.append((entry, documents))

    def close(self, watermark: float, latest: float) -> Iterator[Closed]:
        """Those whose windows have closed when no document before `watermark` can come any more.

        At the end of the stream, `inf`, all windows close; those without an end of their own when the latest came.
        """
        while self._timed and self._timed[0][0] < min(watermark, latest):
            yield from self._close_first()
        waiting, self._counted = self._counted, []
        for entry, documents in waiting:
            stream, limit = entry.shape.sides[entry.shape.present - 1].stream, entry.shape.joins[-1].window.documents
            last = self._state.behind(stream, documents[-1].sequence, limit or 1)
            if last is not None:
                yield from self._unfollowed(entry, documents, last[1], last[0] + 1)
            else:
                self._counted.append((entry, documents))
        if watermark == inf:
            over, self._counted, self._endless = self._counted + self._endless, [], []
            for entry, documents in over:
                yield from self._unfollowed(entry, documents, latest, self._state.sequence)
        while self._timed and self._timed[0][0] < watermark:
            yield from self._close_first()

    def _close_first(self) -> Iterator[Closed]:
        end, _, entry, documents = heapq.heappop(self._timed)
        yield from self._unfollowed(entry, documents, end, self._state.sequence - self._state.after("", end))

    def _unfollowed(
        self, entry: Entry, documents: tuple[Held, ...], timestamp: float, sequence: int
    ) -> Iterator[Closed]:
        if not entry.subscribers:
            return
        shape = entry.shape
        sides = shape.sides[: shape.present]
        outputs: dict[tuple[Nodes, ...], None] = {}
        for bound in self._search.bindings(shape, documents):
            shown = tuple(tuple(nodes[at] for at in side.output) for nodes, side in zip(bound, sides, strict=True))
            if shown not in outputs and not self._search.is_followed(shape, documents, bound):
                outputs[shown] = None
        if outputs:
            yield Closed(entry, documents, timestamp, sequence, tuple(outputs))
