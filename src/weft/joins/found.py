"""What joins find: matches as shapes and documents in, rows for each subscriber out, as late as possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weft.documents.document import Document
from weft.errors import DocumentError
from weft.joins.absence import Closed
from weft.joins.meetings import Meetings
from weft.joins.outputs import Row
from weft.joins.queries import Entry, Queries, Subscriber
from weft.joins.search import Nodes, Search
from weft.joins.state import Held, State

#: When, behind how many documents, whose, and of which documents: batches and single documents have the same order.
_Order = tuple[float, float, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class JoinMessage:
    """What a query delivers for some documents: the text, and when the last of them came or the window closed."""

    number: int
    documents: tuple[Document, ...]
    text: str
    timestamp: float


@dataclass(frozen=True, slots=True)
class Due:
    """A message to be: whose it is, what it is made of, and its timestamp."""

    number: int
    subscriber: Subscriber
    row: Row
    timestamp: float


@dataclass(slots=True)
class Found:
    """The matches of some documents. It is good until more documents come."""

    state: State
    queries: Queries
    meetings: list[Meetings] = field(default_factory=list)  # those that are matches
    searched: list[tuple[Entry, tuple[Held, ...]]] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    published: list[Document] = field(default_factory=list)  # what became of messages that are a stream
    rejected: list[DocumentError] = field(default_factory=list)  # messages that should have been documents

    @property
    def count(self) -> int:
        """How many matches there are: for each subscriber that sees them each combination of documents."""
        if self.queries.since:
            return sum(len(list(_seeing(entry, documents))) for entry, documents in self.documents())
        pairs = sum(int(self.queries.sizes()[part.seed].sum()) for part in self.meetings)
        return pairs + sum(len(entry.subscribers) for entry, _ in self.searched)

    def documents(self) -> Iterator[tuple[Entry, tuple[Held, ...]]]:
        """Each match: a shape with the documents of its blocks."""
        for part in self.meetings:
            columns = part.earlier.tolist(), part.later.tolist(), part.seed.tolist()
            for earlier, later, number in zip(*columns, strict=True):
                seed = self.queries.seeds[number]
                assert seed is not None
                pair = self.state.at(earlier), self.state.at(later)
                yield seed.entry, (pair if seed.newest else pair[::-1])
        yield from self.searched

    def due(self, search: Search) -> list[Due]:
        """The messages to be: in the order of time, those of one document by their subscribers' numbers."""
        rows: list[tuple[_Order, Due]] = []
        for entry, documents in self.documents():
            newest = max(documents, key=lambda one: one.sequence)
            outputs = search.outputs(entry.shape, documents)
            rows += _ordered(entry, documents, outputs, newest.timestamp, newest.sequence)
        for one in self.closed:
            rows += _ordered(one.entry, one.documents, one.outputs, one.timestamp, one.sequence - 0.5)
        rows.sort(key=lambda row: row[0])
        return [due for _, due in rows]


def _ordered(
    entry: Entry,
    documents: Sequence[Held],
    outputs: Iterable[tuple[Nodes, ...]],
    timestamp: float,
    sequence: float,
) -> Iterator[tuple[_Order, Due]]:
    which = tuple(one.sequence for one in documents)
    for due in fan_out(entry, documents, outputs, timestamp):
        yield (timestamp, sequence, due.number, which), due


def fan_out(
    entry: Entry, documents: Sequence[Held], outputs: Iterable[tuple[Nodes, ...]], timestamp: float
) -> Iterator[Due]:
    """A message for each subscriber that sees the documents, and each distinct output."""
    sources = tuple(one.document for one in documents)
    seeing = list(_seeing(entry, documents))
    for nodes in outputs if seeing else ():
        for number, subscriber in seeing:
            yield Due(number, subscriber, Row(subscriber.written, sources, nodes), timestamp)


def _seeing(entry: Entry, documents: Sequence[Held]) -> Iterator[tuple[int, Subscriber]]:
    first = min(one.arrival for one in documents)
    return ((number, each) for number, each in entry.subscribers.items() if each.since <= first)
