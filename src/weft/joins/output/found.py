"""What joins find: matches as shapes and documents in, rows for each subscriber out, as late as possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weft.documents.document import Document
from weft.errors import DocumentError, failure_of
from weft.joins.compile.queries import Queries, SharedJoin, Subscriber
from weft.joins.match.layouts import Nodes
from weft.joins.match.meetings import Meetings
from weft.joins.match.search import Search, TooManyError, Tries
from weft.joins.match.state import Held, State
from weft.joins.output.outputs import MessageRow, Outputs, Turn
from weft.joins.time.absence import Closed

#: Why a query does not make the messages, or not all, of which it and its newest document would make.
Failures = dict[tuple[int, str], str]


@dataclass(frozen=True, slots=True)
class JoinMessage:
    """What a query delivers for some documents: the text, and when the last of them came or the window closed."""

    number: int
    documents: tuple[Document, ...]
    text: str
    timestamp: int  # in nanoseconds


@dataclass(frozen=True, slots=True)
class Due:
    """A message to be: whose it is, what it is made of, its timestamp, and its newest document."""

    number: int
    subscriber: Subscriber
    row: MessageRow
    timestamp: int
    newest: str


@dataclass(slots=True)
class Found:
    """The matches of some documents. It is good until more documents come."""

    state: State
    queries: Queries
    meetings: list[Meetings] = field(default_factory=list)  # those that are matches
    searched: list[tuple[SharedJoin, tuple[Held, ...]]] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    published: list[Document] = field(default_factory=list)  # what became of messages that are a stream
    rejected: list[DocumentError] = field(default_factory=list)  # what is not joined, also of these
    failures: Failures = field(default_factory=dict)

    @property
    def failed(self) -> list[tuple[int, str, str]]:
        """What is not made, as far as messages have been: the query's number, its newest document, and why."""
        return [(number, document, reason) for (number, document), reason in self.failures.items()]

    def fail(self, shared: SharedJoin, documents: Sequence[Held], error: Exception) -> None:
        """The messages of a match are not made, and all others are."""
        fail(self.failures, shared.subscribers, _newest(documents).document.id, error)

    @property
    def count(self) -> int:
        """How many matches there are: for each subscriber that sees them each combination of documents."""
        if self.queries.since:
            return sum(len(_seeing(shared, documents)) for shared, documents in self.documents())
        pairs = sum(int(self.queries.sizes()[part.opening].sum()) for part in self.meetings)
        return pairs + sum(len(shared.subscribers) for shared, _ in self.searched)

    def documents(self) -> Iterator[tuple[SharedJoin, tuple[Held, ...]]]:
        """Each match: a shape with the documents of its blocks."""
        for part in self.meetings:
            columns = part.earlier.tolist(), part.later.tolist(), part.opening.tolist()
            for earlier, later, number in zip(*columns, strict=True):
                opening = self.queries.openings[number]
                assert opening is not None
                pair = self.state.at(earlier), self.state.at(later)
                yield opening.shared, (pair if opening.newest else pair[::-1])
        yield from self.searched

    @property
    def may_publish(self) -> bool:
        """Whether there is a match of a query whose messages become documents."""
        if any(self.queries.publishes(part.opening) for part in self.meetings):
            return True
        return any(shared.publishers for shared, _ in self.searched) or any(
            one.shared.publishers for one in self.closed
        )

    def take(self, other: Found) -> None:
        """What was found of other documents is found too."""
        self.meetings += other.meetings
        self.searched += other.searched
        self.rejected += other.rejected
        for key, reason in other.failures.items():
            self.failures.setdefault(key, reason)

    def due(self, search: Search) -> list[Due]:
        """The messages to be: in the order of time, those of one document by their subscribers' numbers."""
        matches: list[Match] = []
        for shared, documents in self.documents():
            newest = _newest(documents)
            matches.append(Match((newest.timestamp, newest.sequence), shared, documents))
        for one in self.closed:
            matches.append(Match((one.timestamp, one.sequence - 0.5), one.shared, one.documents, one.outputs))
        return fan_out(search, matches, self.failures)


@dataclass(frozen=True, slots=True)
class Match:
    """Documents that belong together, since when, and their output nodes where these are known."""

    moment: Turn
    shared: SharedJoin
    documents: tuple[Held, ...]
    outputs: tuple[tuple[Nodes, ...], ...] | None = None
    is_sure: bool = True  # else it is one only if some binding meets all conditions

    @property
    def newest(self) -> str:
        """The id of the newest document."""
        return _newest(self.documents).document.id

    @property
    def order(self) -> tuple[Turn, tuple[int, ...]]:
        """The place among others: batches and single documents have the same order."""
        return self.moment, tuple(one.sequence for one in self.documents)


def fan_out(search: Search, matches: Iterable[Match], failures: Failures) -> list[Due]:
    """A message for each match, each subscriber that sees its documents and each distinct output.

    No query has more of one moment than it may. What goes wrong with a match is told, and does not touch the others.
    """
    rows: list[Due] = []
    made: Counter[int] = Counter()  # by subscriber, of the moment
    tries: dict[int, Tries] = {}  # by shape, of the moment
    last: Turn | None = None
    for match in sorted(matches, key=lambda match: match.order):
        if match.moment != last:
            last = match.moment
            made.clear()
            tries.clear()
        try:
            outputs: Iterable[tuple[Nodes, ...]] | None = match.outputs
            if outputs is None:
                of_shape = tries.setdefault(id(match.shared), search.tries())
                if not match.is_sure and not search.is_match(match.shared.shape, match.documents, of_shape):
                    continue
                outputs = search.outputs(match.shared.shape, match.documents, of_shape)
            for due in _messages(match, outputs, made, search.most, failures):
                rows.append(due)  # one by one: what was made before something goes wrong stays
        except Exception as error:  # whatever it is, it is this match's own
            fail(failures, match.shared.subscribers, match.newest, error)
    rows.sort(key=lambda due: (due.row.moment, due.number))  # stable: the matches stay in their order
    return rows


def _messages(
    match: Match, outputs: Iterable[tuple[Nodes, ...]], made: Counter[int], most: int, failures: Failures
) -> Iterator[Due]:
    """The messages of a match, for each subscriber as long as it has not made the most."""
    seeing, newest = _seeing(match.shared, match.documents), match.newest
    if all(made[number] >= most for number, _ in seeing):  # there is an output, and nobody can have it
        fail(failures, (number for number, _ in seeing), newest, _too_many(most))
        return
    sources = tuple(one.document for one in match.documents)
    for nodes in outputs:
        full = []
        for number, subscriber in seeing:
            if made[number] >= most:
                full.append(number)
                continue
            made[number] += 1
            row = MessageRow(subscriber.written, sources, nodes, number, match.moment)
            yield Due(number, subscriber, row, match.moment[0], newest)
        if full:
            fail(failures, full, newest, _too_many(most))
            seeing = [one for one in seeing if one[0] not in full]
        if not seeing:
            return


def _too_many(most: int) -> TooManyError:
    return TooManyError(f"more than {most:,} messages of one document")


def fail(failures: Failures, numbers: Iterable[int], document: str, error: Exception) -> None:
    """Note why queries do not make messages; the first reason for a document is told."""
    reason = str(error) if isinstance(error, TooManyError) else failure_of(error)
    for number in numbers:
        failures.setdefault((number, document), reason)


def written(outputs: Outputs, due: Sequence[Due], failures: Failures) -> Iterator[tuple[Due, str]]:
    """The messages that can be written, with their texts; why others cannot is told."""
    for text, each in zip(outputs.write([one.row for one in due]), due, strict=True):
        if isinstance(text, str):
            yield each, text
        else:
            failures.setdefault((each.number, each.newest), text.reason)


def _newest(documents: Sequence[Held]) -> Held:
    return max(documents, key=lambda one: one.sequence)


def _seeing(shared: SharedJoin, documents: Sequence[Held]) -> list[tuple[int, Subscriber]]:
    first = min(one.arrival for one in documents)
    return [(number, each) for number, each in shared.subscribers.items() if each.since <= first]
