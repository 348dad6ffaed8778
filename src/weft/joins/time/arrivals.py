"""Documents as they come in, documents in the order of their timestamps out, as late as the lateness allows."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from weft.documents.document import Document
from weft.documents.moment import END, SECOND, START
from weft.errors import DocumentError
from weft.joins.match.witness import Witnesses

#: The time now, in nanoseconds since 1970.
Clock = Callable[[], int]
#: An `ahead` that everything is within.
ANY_TIME = END - START
_DAY = 86_400 * SECOND  # that a document may be ahead of the clock if nothing else is said


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document with its timestamp, and the place of its witnesses in those of its batch."""

    document: Document
    timestamp: int
    witnesses: Witnesses
    place: int
    number: int  # its place among all documents as they came


@dataclass(slots=True)
class Progress:
    """How far time has come: all that arrivals know but for the documents that wait."""

    watermark: int = START  # no document before it can come; END behind the end of the stream
    latest: int = START  # the latest timestamp so far
    reached: int = START  # the same, or what was told to have passed; documents may be `ahead` of that
    seen: int = START  # the clock when that was reached
    late: int = 0
    ahead: int = 0
    number: int = 0  # of the next document


class Arrivals:
    """Holds documents back until no earlier one can come any more. All times are nanoseconds.

    No document before the watermark can come, which is the latest timestamp so far less the lateness; one that does is
    late, and not joined. Neither is one that is too far ahead, for all others would be late after it: with `ahead`, one
    that is by more than that ahead of the time that has passed since the latest came; without, one that is by more than
    a day ahead of the clock. Documents without a timestamp get the time when they come, and are never either.
    """

    def __init__(self, lateness: int = 0, ahead: int | None = None, clock: Clock = time.time_ns) -> None:
        self._lateness, self._ahead, self._clock = lateness, ahead, clock
        self.progress = Progress()
        self._waiting: list[tuple[int, int, Arrival]] = []

    def __iter__(self) -> Iterator[Arrival]:
        return (arrival for _, _, arrival in sorted(self._waiting, key=lambda one: one[:2]))

    def since(self, number: int) -> Iterator[Arrival]:
        """The documents that wait and have come from this one on, in no order."""
        return (arrival for _, came, arrival in self._waiting if came >= number)

    def next_number(self) -> int:
        """The number of a document that comes now."""
        self.progress.number += 1
        return self.progress.number - 1

    def come(self, documents: Sequence[Document], witnesses: Witnesses) -> tuple[list[Arrival], list[DocumentError]]:
        """Documents come; those whose turn it is come back, in order, and why others are too far ahead."""
        progress, refused = self.progress, []
        for place, document in enumerate(documents):
            number, now, timestamp = self.next_number(), self._clock(), document.nanoseconds
            if progress.watermark == END or (timestamp is not None and timestamp < progress.watermark):
                progress.late += 1
            elif timestamp is None:  # each comes later than those before, even if the clock does not say so
                timestamp = min(max(now, progress.latest + 1, progress.watermark), END - 1)
                self._put(Arrival(document, timestamp, witnesses, place, number), now)
            elif (why := self._too_far(timestamp, now)) is not None:
                progress.ahead += 1
                refused.append(DocumentError(document.id, 1, 1, 0, why))
            else:
                self._put(Arrival(document, timestamp, witnesses, place, number), now)
        return self._ripe(), refused

    def _too_far(self, timestamp: int, now: int) -> str | None:
        """Why a document is too far ahead to be joined, if it is."""
        progress, expected, what = self.progress, now, "the clock"
        if self._ahead is not None and progress.reached > START:
            passed = max(now - progress.seen, 0)  # a clock that goes back tells nothing
            expected, what = progress.reached + passed, "what has passed since the latest document"
        bound = _DAY if self._ahead is None else self._ahead
        if timestamp - expected <= bound:
            return None
        return f"dated {_told(timestamp - expected)} ahead of {what}, by more than {_told(bound)}: not joined"

    def _put(self, arrival: Arrival, now: int) -> None:
        """A document waits for its turn."""
        timestamp, progress = arrival.timestamp, self.progress
        heapq.heappush(self._waiting, (timestamp, arrival.number, arrival))
        if timestamp > progress.latest:
            self._reach(timestamp, now)
            progress.latest = timestamp
            progress.watermark = max(progress.watermark, timestamp - self._lateness)

    def _reach(self, timestamp: int, now: int) -> None:
        if timestamp > self.progress.reached:
            self.progress.reached, self.progress.seen = timestamp, now

    def restore(self, progress: Progress, waiting: Sequence[Arrival]) -> None:
        """Go on where another one was."""
        self.progress = progress
        self._waiting = [(arrival.timestamp, arrival.number, arrival) for arrival in waiting]
        heapq.heapify(self._waiting)

    def advance(self, timestamp: int = END) -> list[Arrival]:
        """Nothing before this timestamp can come any more."""
        if timestamp < END:
            self._reach(timestamp, self._clock())
        self.progress.watermark = max(self.progress.watermark, timestamp)
        return self._ripe()

    def _ripe(self) -> list[Arrival]:
        ripe = []
        while self._waiting and self._waiting[0][0] <= self.progress.watermark:
            ripe.append(heapq.heappop(self._waiting)[2])
        return ripe


def _told(length: int) -> timedelta:
    return timedelta(microseconds=length // 1000)
