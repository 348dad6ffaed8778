"""Documents in any order in, which of those before each may be joined with out; each document is kept once.

A document is kept as long as the longest window of the queries that its values are for, and not for others. Its source
is kept elsewhere, and is read when it may be joined.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Protocol

import numpy as np

from weft.columns.integers import Longs
from weft.documents.document import Document
from weft.documents.moment import END, START
from weft.joins.journal import Live
from weft.joins.match.state import Numbered
from weft.joins.pair_change import PairChange
from weft.joins.pair_ways import Come, Hits, PairWays, SortedRun, sorted_run
from weft.joins.pairs import Candidate, PairJoins
from weft.joins.saved import read_document, write_document

_NONE = np.zeros(0, np.int64)


class Sources(Protocol):
    """Where the sources of documents are kept, by their numbers."""

    def get(self, number: int) -> bytes | None:
        """A source, if it is there."""

    def put(self, number: int, data: bytes) -> None:
        """Keep a source."""

    def remove(self, number: int) -> None:
        """Let a source go; one that is not there is gone."""


@dataclass(slots=True)
class _KeptDocuments:
    """The documents that are kept: their numbers in order, when they came, and until when they are of use."""

    number: Longs = field(default_factory=lambda: _NONE)
    nanoseconds: Longs = field(default_factory=lambda: _NONE)
    came: Longs = field(default_factory=lambda: _NONE)
    until: Longs = field(default_factory=lambda: _NONE)

    def add(self, number: Longs, nanoseconds: Longs, came: Longs, until: Longs, watermark: int) -> None:
        kept = self.until >= watermark
        kept |= kept.size <= 2 * int(kept.sum())  # those that are of no use go when they are most
        self.number = np.concatenate([self.number[kept], number])
        self.nanoseconds = np.concatenate([self.nanoseconds[kept], nanoseconds])
        self.came = np.concatenate([self.came[kept], came])
        self.until = np.concatenate([self.until[kept], until])

    def near(self, new: int, before: int, is_later: bool, documents: Longs) -> tuple[Longs, Longs, Longs]:
        """Those on one side of a moment that were there before: number, distance, and since when each is."""
        documents = documents[documents < before]
        at = np.searchsorted(self.number, documents)
        inside = at < self.number.size
        at = at[inside][self.number[at[inside]] == documents[inside]]
        gap = new - self.nanoseconds[at] if is_later else self.nanoseconds[at] - new
        near = gap >= 0
        return self.number[at[near]], gap[near], self.came[at[near]]


class PairStore:
    """The documents of one shard that may be joined with others that come. Times are nanoseconds."""

    def __init__(self, pairs: PairJoins, sources: Sources, lateness: int) -> None:
        self.pairs, self.sources, self._lateness = pairs, sources, lateness
        self.watermark, self.latest = START, START
        self.came = self._next = 0
        self._ways = PairWays(pairs)
        self._kept, self._runs = _KeptDocuments(), list[SortedRun]()
        self._dying: list[tuple[int, int]] = []  # until when each document is of use, and its number
        self._change: list[PairChange] = []

    @property
    def held(self) -> int:
        """About how many documents are kept."""
        return self._kept.number.size

    # -- documents come

    def take_in(self, come: Sequence[Come], moment: int) -> Iterator[Candidate]:
        """Documents come; what each may be joined with, of those before it."""
        come = [one for one in come if (one.document.nanoseconds or 0) >= self.watermark]
        come.sort(key=lambda one: (one.document.nanoseconds or 0, one.document.id))
        kept = [one for one in come if one.is_kept]
        fresh = {self._next + at: one.document for at, one in enumerate(kept)}
        before = np.cumsum([0, *(one.is_kept for one in come)])[:-1] + self._next
        change = self._ways.change(kept, self._next, moment)
        for number, document in fresh.items():
            self.sources.put(number, b"".join(write_document(_numbered(document))))
        self._hold(change)
        self.came += len(come)
        known = dict(fresh)
        for at, hits in self._ways.hits(come, self._runs):
            yield from self._candidates(come[at].document, int(before[at]), hits, known, moment)
        self.latest = max([self.latest, *(one.document.nanoseconds or 0 for one in come)])

    def advance(self, timestamp: int) -> None:
        """No document before this comes any more, less the lateness; what is of no use goes."""
        self.watermark = max(self.watermark, min(timestamp, END) - self._lateness)
        while self._dying and self._dying[0][0] < self.watermark:
            self.sources.remove(heapq.heappop(self._dying)[1])

    def _hold(self, change: PairChange) -> None:
        """Keep documents, if some query can use them."""
        until, codes, documents, uses = self._ways.codes(change)
        self._kept.add(change.number, change.nanoseconds, change.came, until, self.watermark)
        for number, end in zip(change.number.tolist(), until.tolist(), strict=True):
            heapq.heappush(self._dying, (end, number))
        self._next = max(self._next, change.next)
        self._change.append(change)
        if codes.size:
            self._runs.append(sorted_run(codes, documents, uses, self.watermark))
        while len(self._runs) > 1 and 2 * self._runs[-1].code.size > self._runs[-2].code.size:
            last = self._runs.pop()
            self._runs[-1] = self._runs[-1].merged(last, self.watermark)

    def _candidates(
        self, document: Document, before: int, hits: tuple[Hits, Hits], known: dict[int, Document], moment: int
    ) -> Iterator[Candidate]:
        new = document.nanoseconds or 0
        for is_later, found in zip((True, False), hits, strict=True):
            for opening, others in self._ways.openings(found, partial(self._kept.near, new, before, is_later)):
                for number, came in others:
                    other = known.get(number) or known.setdefault(number, self._source(number))
                    earlier, later, moments = (
                        (other, document, (came, moment)) if is_later else (document, other, (moment, came))
                    )
                    if (earlier.nanoseconds, earlier.id) < (later.nanoseconds, later.id):
                        yield Candidate(opening, earlier, later, moments)

    def _source(self, number: int) -> Document:
        data = self.sources.get(number)
        if data is None:
            raise ValueError(f"the source of document {number} is not in the state of joins")
        return read_document(BytesIO(data)).document

    # -- what changes

    def take(self) -> PairChange:
        """What has changed since it was asked last."""
        changes, self._change = self._change, []
        return PairChange.nothing(self.watermark, self._next).with_older(changes)

    def apply(self, changes: Sequence[PairChange]) -> None:
        """Make changes that were made elsewhere."""
        first = self._next
        for change in sorted(changes, key=lambda each: each.next):
            self.watermark = max(self.watermark, change.watermark)
        whole = PairChange.nothing(self.watermark, first).with_older(changes).since(first)
        self._hold(whole.alive(self._ways.codes(whole)[0] >= self.watermark))
        self._next = max([first, *(change.next for change in changes)])
        self._change = []
        while self._dying and self._dying[0][0] < self.watermark:  # others let go of these
            heapq.heappop(self._dying)

    def live(self) -> Live:
        """The documents that are of use."""
        return Live(set(self._kept.number[self._kept.until >= self.watermark].tolist()), frozenset(), END)

    def write(self, change: PairChange) -> bytes:
        """A change as bytes."""
        return change.write()

    def read(self, data: bytes) -> PairChange:
        """And back."""
        return PairChange.read(data)


def _numbered(document: Document) -> Numbered:
    return Numbered(document, document.nanoseconds or 0, 0, 0)
