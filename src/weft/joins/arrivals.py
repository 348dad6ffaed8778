"""Documents as they come in, documents in the order of their timestamps out, as late as the lateness allows."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, nextafter

from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.joins.witness import Witnesses


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document with its timestamp, and the place of its witnesses in those of its batch."""

    document: Document
    timestamp: float
    witnesses: Witnesses
    place: int
    number: int  # its place among all documents as they came


class Arrivals:
    """Holds documents back until no earlier one can come any more.

    No document before the watermark can come, which is the latest timestamp so far less the lateness; one that does is
    late.
    """

    def __init__(self, lateness: float) -> None:
        if not 0 <= lateness < inf:
            raise ConfigurationError(f"lateness: expected a number of seconds, at least 0, found {lateness}")
        self._lateness = lateness
        self.watermark = -inf
        self.latest = -inf  # the latest timestamp so far
        self.late = 0
        self.number = 0  # of the next document
        self._waiting: list[tuple[float, int, Arrival]] = []

    def __iter__(self) -> Iterator[Arrival]:
        return (arrival for _, _, arrival in sorted(self._waiting, key=lambda one: one[:2]))

    def come(self, documents: Sequence[Document], witnesses: Witnesses) -> list[Arrival]:
        """Documents come; those whose turn it is come back, in order."""
        for place, document in enumerate(documents):
            timestamp = document.timestamp
            if self.watermark == inf:  # the stream has ended
                timestamp = -inf
            elif timestamp is None:  # each comes later than those before, even if the clock does not say so
                timestamp = max(time.time(), nextafter(self.latest, inf), self.watermark)
            self._put(Arrival(document, timestamp, witnesses, place, self.number))
            self.number += 1
        return self._ripe()

    def _put(self, arrival: Arrival) -> None:
        """A document comes, and waits for its turn unless it is late."""
        if arrival.timestamp < self.watermark:
            self.late += 1
            return
        heapq.heappush(self._waiting, (arrival.timestamp, arrival.number, arrival))
        self.latest = max(self.latest, arrival.timestamp)
        self.watermark = max(self.watermark, arrival.timestamp - self._lateness)

    def restore(self, watermark: float, latest: float, late: int, number: int, waiting: Iterable[Arrival]) -> None:
        """Go on where another one was."""
        self.watermark, self.latest, self.late, self.number = watermark, latest, late, number
        for arrival in waiting:
            heapq.heappush(self._waiting, (arrival.timestamp, arrival.number, arrival))

    def advance(self, timestamp: float) -> list[Arrival]:
        """Nothing before this timestamp can come any more."""
        self.watermark = max(self.watermark, timestamp)
        return self._ripe()

    def _ripe(self) -> list[Arrival]:
        ripe = []
        while self._waiting and self._waiting[0][0] <= self.watermark:
            ripe.append(heapq.heappop(self._waiting)[2])
        return ripe
