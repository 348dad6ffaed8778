"""Matches that something must not follow in, those that nothing followed out, when their windows close."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.documents.moment import END
from weft.joins.compile.queries import SharedJoin
from weft.joins.compile.shapes import Shape
from weft.joins.match.layouts import Nodes
from weft.joins.match.search import Search, latest
from weft.joins.match.state import Held, State

#: Is told which match failed, and by what.
Fail = Callable[[SharedJoin, Sequence[Held], Exception], None]
NumberedWait = tuple[int, SharedJoin, tuple[Held, ...]]


@dataclass(frozen=True, slots=True)
class Closed:
    """A match whose window has closed: when, and the distinct output nodes of the bindings that nothing followed."""

    shared: SharedJoin
    documents: tuple[Held, ...]
    timestamp: int
    sequence: int  # of the next document then
    outputs: tuple[tuple[Nodes, ...], ...]


class Absences:
    """The matches whose windows are open; whether something followed is asked when they close."""

    def __init__(self, state: State, search: Search) -> None:
        self._state, self._search = state, search
        self._number = 0
        self._timed: list[tuple[int, int, SharedJoin, tuple[Held, ...]]] = []  # by the end of the window
        #: By stream: how many documents of it there must have been, and the same.
        self._counted: dict[str, list[tuple[int, int, SharedJoin, tuple[Held, ...]]]] = {}
        self._due: list[tuple[int, SharedJoin, tuple[Held, ...]]] = []  # of these, by how they came
        self._endless: list[tuple[int, SharedJoin, tuple[Held, ...]]] = []
        self.added: list[NumberedWait] | None = None  # where somebody keeps a journal: those that have come

    def __len__(self) -> int:
        return len(self._timed) + sum(map(len, self._counted.values())) + len(self._due) + len(self._endless)

    def __iter__(self) -> Iterator[tuple[SharedJoin, tuple[Held, ...]]]:
        yield from ((shared, documents) for _, _, shared, documents in sorted(self._timed, key=lambda one: one[:2]))
        counted = [one[1:] for waiting in self._counted.values() for one in waiting]
        yield from ((shared, documents) for _, shared, documents in sorted(counted + self._due, key=lambda one: one[0]))
        yield from (one[1:] for one in self._endless)

    @property
    def number(self) -> int:
        """The number of the next match that waits."""
        return self._number

    def numbers(self) -> set[int]:
        """The numbers of all matches that wait."""
        timed = (one[1] for one in self._timed)
        counted = (one[1] for waiting in self._counted.values() for one in waiting)
        return {*timed, *counted, *(one[0] for one in self._due), *(one[0] for one in self._endless)}

    @property
    def counted_streams(self) -> set[str]:
        """The streams whose documents are counted for some window."""
        return set(self._counted)

    def wait(self, shared: SharedJoin, documents: tuple[Held, ...]) -> None:
        """A match of the blocks before waits for its window to close."""
        window = shared.shape.joins[-1].window
        latest_one = latest(documents[shared.shape.ends(shared.shape.present - 1)[0].start :])
        if window.nanoseconds is not None:
            end = min(latest_one.timestamp + window.nanoseconds, END - 1)  # so that the end of the stream closes it
            heapq.heappush(self._timed, (end, self._number, shared, documents))
        elif window.documents is not None:
            stream = _counted_stream(shared.shape)
            last = self._state.history.count(stream, documents[-1].sequence) + window.documents
            heapq.heappush(self._counted.setdefault(stream, []), (last, self._number, shared, documents))
        else:
            self._endless.append((self._number, shared, documents))
        if self.added is not None:
            self.added.append((self._number, shared, documents))
        self._number += 1

    def wait_again(self, waits: Iterable[NumberedWait], number: int, watermark: int) -> None:
        """Matches that waited elsewhere, with their numbers; those whose windows have closed since do not any more."""
        kept, self.added = self.added, None
        for self._number, shared, documents in waits:
            self.wait(shared, documents)
        self.added, self._number = kept, number
        while self._timed and self._timed[0][0] < watermark:
            heapq.heappop(self._timed)
        self._find_due()
        self._due = []

    def forget(self) -> None:
        """Let go of the matches that nobody waits for any more."""
        self._timed = _wanted(self._timed)
        counted = {stream: _wanted(waiting) for stream, waiting in self._counted.items()}
        self._counted = {stream: waiting for stream, waiting in counted.items() if waiting}
        self._endless = [one for one in self._endless if one[1].subscribers]

    def close(self, watermark: int, latest: int, fail: Fail) -> Iterator[Closed]:
        """Those whose windows have closed when no document before `watermark` can come any more.

        At the end of the stream, `END`, all windows close; those without an end of their own when the latest came.
        """
        while self._timed and self._timed[0][0] < min(watermark, latest):
            yield from self._close_first(fail)
        yield from self._close_counted(fail)
        if watermark == END:
            over = list(self)[len(self._timed) :]
            self._counted, self._endless = {}, []
            for shared, documents in over:
                yield from self._unfollowed(shared, documents, latest, self._state.sequence, fail)
        while self._timed and self._timed[0][0] < watermark:
            yield from self._close_first(fail)

    def _close_counted(self, fail: Fail) -> Iterator[Closed]:
        """Those for which so many documents have come; what is made of them may be documents that close others."""
        history, seen = self._state.history, -1
        while True:
            if history.sequence != seen:
                seen = history.sequence
                self._find_due()
            if not self._due:
                return
            _, shared, documents = heapq.heappop(self._due)
            window = shared.shape.joins[-1].window.documents or 1
            last = history.behind(_counted_stream(shared.shape), documents[-1].sequence, window)
            assert last is not None, "so many documents have come"
            yield from self._unfollowed(shared, documents, last[1], last[0] + 1, fail)

    def _find_due(self) -> None:
        for stream, waiting in list(self._counted.items()):
            come = self._state.history.count(stream)
            while waiting and waiting[0][0] <= come:
                heapq.heappush(self._due, heapq.heappop(waiting)[1:])
            if not waiting:
                del self._counted[stream]

    def _close_first(self, fail: Fail) -> Iterator[Closed]:
        end, _, shared, documents = heapq.heappop(self._timed)
        yield from self._unfollowed(shared, documents, end, self._state.sequence - self._state.history.after(end), fail)

    def _unfollowed(
        self, shared: SharedJoin, documents: tuple[Held, ...], timestamp: int, sequence: int, fail: Fail
    ) -> Iterator[Closed]:
        if not shared.subscribers:
            return
        try:
            outputs = self._outputs(shared.shape, documents)
        except Exception as error:  # whatever it is, the windows of others close all the same
            fail(shared, documents, error)
            return
        if outputs:
            yield Closed(shared, documents, timestamp, sequence, outputs)

    def _outputs(self, shape: Shape, documents: tuple[Held, ...]) -> tuple[tuple[Nodes, ...], ...]:
        """The distinct output nodes of the bindings that nothing followed, up to one more than there may be."""
        outputs: list[tuple[Nodes, ...]] = []
        for shown in self._search.unfollowed(shape, documents, self._search.tries()):
            outputs.append(shown)
            if len(outputs) > self._search.most:
                break
        return tuple(outputs)


def _counted_stream(shape: Shape) -> str:
    """The stream whose documents a window in documents counts, where it is that of an absence."""
    return shape.sides[shape.present - 1].stream


def _wanted(
    waiting: list[tuple[int, int, SharedJoin, tuple[Held, ...]]],
) -> list[tuple[int, int, SharedJoin, tuple[Held, ...]]]:
    """Those that somebody still waits for, as a heap."""
    wanted = [one for one in waiting if one[2].subscribers]
    heapq.heapify(wanted)
    return wanted
