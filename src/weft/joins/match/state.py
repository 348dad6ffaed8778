"""Documents and their witnesses in, the documents that a window can still reach out: the state of all joins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

import numpy as np

from weft.columns.integers import Flags, Longs
from weft.documents.document import Document
from weft.joins.match.compared import ComparedNodes
from weft.joins.match.postings import Occurrences, Postings
from weft.joins.match.witness import Witnesses
from weft.joins.time.history import History

_SWEEP = 1_024  # documents that may be gone before the state is made compact


@dataclass(slots=True)
class Held:
    """A document of the state: when it came, and where its witnesses are."""

    document: Document
    timestamp: int
    sequence: int  # its place among all documents in order, also those that are not held
    arrival: int  # its place among all documents as they came
    witnesses: Witnesses
    rows: tuple[int, int]
    edges: tuple[int, int]
    multiple: frozenset[int] = frozenset()  # the variables that have several nodes
    place: int = -1  # in the state

    @property
    def numbered(self) -> tuple[Document, int, int, int]:
        """The document with its numbers."""
        return self.document, self.timestamp, self.sequence, self.arrival

    def values(self) -> Longs:
        """The codes of its values."""
        return self.witnesses.value[slice(*self.rows)]


class Numbered(NamedTuple):
    """A document with its timestamp, its place in the order and its place as it came."""

    document: Document
    timestamp: int
    sequence: int
    arrival: int


def hold(documents: Sequence[Numbered], witnesses: Witnesses) -> list[Held]:
    """Documents with their witnesses, which are those of one batch."""
    numbers = np.arange(len(documents) + 1)
    rows = np.searchsorted(witnesses.document, numbers).tolist()
    edges = np.searchsorted(witnesses.edge_document, numbers).tolist()
    same = np.flatnonzero((np.diff(witnesses.document) == 0) & (np.diff(witnesses.variable) == 0))
    multiple: dict[int, set[int]] = {}
    for at, variable in zip(witnesses.document[same].tolist(), witnesses.variable[same].tolist(), strict=True):
        multiple.setdefault(at, set()).add(variable)
    columns = zip(documents, pairwise(rows), pairwise(edges), strict=True)
    return [
        Held(*one, witnesses, of_rows, of_edges, frozenset(multiple.get(at, ())))
        for at, (one, of_rows, of_edges) in enumerate(columns)
    ]


class StateMark(NamedTuple):
    """A moment of the state: how many documents it had, which number was the next, and what was posted."""

    documents: int
    sequence: int
    runs: list[Occurrences]
    compared: int


class State:
    """All documents that are held, in the order in which they came; a document's place is an index of the columns."""

    def __init__(self) -> None:
        self.postings = Postings()
        self.held: list[Held | None] = []
        self.history = History()
        self.compared = ComparedNodes()
        self._timestamps: Longs = np.zeros(1_024, np.int64)
        self._sequences: Longs = np.zeros(1_024, np.int64)
        self._is_multiple: Flags = np.zeros(1_024, bool)
        self._is_held: Flags = np.zeros(1_024, bool)
        self._gone = 0

    @property
    def sequence(self) -> int:
        """The sequence number of the next document."""
        return self.history.sequence

    def __len__(self) -> int:
        return len(self.held) - self._gone

    def __iter__(self) -> Iterator[Held]:
        return (one for one in self.held if one is not None)

    def at(self, place: int) -> Held:
        """The document at a place, which is still there."""
        one = self.held[place]
        assert one is not None
        return one

    @property
    def timestamps(self) -> Longs:
        """When the documents came, by place."""
        return self._timestamps[: len(self.held)]

    @property
    def sequences(self) -> Longs:
        """The documents' sequence numbers, by place."""
        return self._sequences[: len(self.held)]

    @property
    def is_multiple(self) -> Flags:
        """Whether some variable has several nodes in the document, by place."""
        return self._is_multiple[: len(self.held)]

    @property
    def is_held(self) -> Flags:
        """Whether the document is still there, by place."""
        return self._is_held[: len(self.held)]

    def since(self, sequence: int) -> list[Held]:
        """The documents from a sequence number on, the last one first; it costs nothing for those before."""
        behind = takewhile(lambda one: one is None or one.sequence >= sequence, reversed(self.held))
        return [one for one in behind if one is not None]

    # -- documents come

    def add(self, one: Held) -> int:
        """Hold a document; its place comes back."""
        place = one.place = len(self.held)
        self.held.append(one)
        if place == len(self._timestamps):
            self._timestamps = np.concatenate([self._timestamps, np.zeros(place, np.int64)])
            self._sequences = np.concatenate([self._sequences, np.zeros(place, np.int64)])
            self._is_multiple = np.concatenate([self._is_multiple, np.zeros(place, bool)])
            self._is_held = np.concatenate([self._is_held, np.zeros(place, bool)])
        self._timestamps[place], self._sequences[place] = one.timestamp, one.sequence
        self._is_multiple[place], self._is_held[place] = bool(one.multiple), True
        return place

    def mark(self) -> StateMark:
        """Where the state is now, so that what comes next can be taken back."""
        return StateMark(len(self.held), self.history.sequence, self.postings.runs, len(self.compared))

    def cut(self, mark: StateMark) -> None:
        """What has come since the mark has not; nothing may have gone since."""
        del self.held[mark.documents :]
        self.postings.runs = mark.runs
        self.compared.cut(mark.compared)
        self.history.cut(mark.sequence)

    def begin_anew(self) -> None:
        """Hold nothing, so that what was held can be held again with other witnesses."""
        self.held, self._gone, self.postings, self.compared = [], 0, Postings(), ComparedNodes()

    # -- documents go

    def drop(self, is_over: Callable[[Held], bool]) -> bool:
        """Let go of the documents that no window can reach any more; says whether the state was made compact."""
        for place, one in enumerate(self.held):
            if one is not None and is_over(one):
                self.held[place] = None
                self._is_held[place] = False
                self._gone += 1
        if self._gone <= max(_SWEEP, len(self)):
            return False
        self._compact()
        return True

    def _compact(self) -> None:
        kept = self.is_held
        places = (np.cumsum(kept) - 1).astype(np.int32)
        self.postings.compact(kept, places)
        self.compared.compact(kept, places)
        size = len(self.held)
        for name in ("_timestamps", "_sequences", "_is_multiple", "_is_held"):
            column = getattr(self, name)[:size][kept]
            setattr(self, name, np.concatenate([column, np.zeros(max(1_024, column.size), column.dtype)]))
        self.held = [one for one in self.held if one is not None]
        for place, one in enumerate(self.held):
            assert one is not None
            one.place = place
        self._gone = 0
