"""Documents in, messages with their destinations out; what comes to nothing is remembered, and told when asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from weft.broker.admission import Admission
from weft.broker.answers import Matched, answered, chunks, deliver, match, placed, read_to_match
from weft.broker.change_lock import ChangeLock
from weft.broker.counts import BrokerTally, RejectedDocuments
from weft.broker.destinations import Destination, Message
from weft.broker.ids import Ids
from weft.broker.matcher import Matcher
from weft.broker.published import BatchMessages, ListedMessages, Published
from weft.broker.subscription_ids import SubscriptionIds
from weft.columns.integers import Ints
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.document_column import Columns, DocumentColumn
from weft.documents.gather import with_blanks
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.engine.deliveries import Deliveries, deliveries
from weft.errors import DocumentError, MessageError, failure_of
from weft.joins.output.found import Found

_KEPT = 10_000  # rejected documents and refused messages that are remembered


class _ToldDocuments(NamedTuple):
    """What is told of a batch when its node table is gone."""

    documents: Sequence[Document]
    rejected: Sequence[DocumentError]


class Publisher:
    """Makes the messages of one broker."""

    def __init__(self, matcher: Matcher, admission: Admission) -> None:
        self._matcher, self._admission = matcher, admission
        self.tally = BrokerTally()
        self.rejected = RejectedDocuments(self.tally, _KEPT)
        self.refused: deque[MessageError] = deque(maxlen=_KEPT)
        self.refused_count = 0  # messages that were not made, also those no longer remembered

    def matches(self, documents: list[Document] | Columns) -> list[Ids]:
        """For each document the ids of the subscriptions that match it."""
        found, is_kept_up = _FoundIds(self._matcher.ids), False
        for chunk in chunks(documents):
            answers = self._answered(chunk)
            unknown = [document for document in chunk if id(document) not in answers] if answers else chunk
            if not len(unknown):  # the engine is left alone: all that it does for nothing takes longer than looking up
                first = found.add(chunk, [], [])
            else:
                if not is_kept_up:
                    self._matcher.keep_up()
                    is_kept_up = True
                batch = self._read_to_match(unknown)
                self.rejected.extend(batch.rejected)
                matched = match(self._matcher.engine, batch, self._matcher)
                self._tell(batch, matched)
                first = found.add(chunk, batch.documents, matched.subscriptions)
            for place, document in enumerate(chunk if answers else ()):
                if (numbers := answers.get(id(document))) is not None:
                    found.put(first + place, [number for number in numbers if number not in self._matcher.joins])
        return found.listed(documents)

    def matches_under(self, lock: ChangeLock, documents: list[Document] | Columns) -> list[Ids]:
        """The same, beside other threads where that can be, else alone."""
        self.tally.documents += documents.rows if isinstance(documents, Columns) else len(documents)
        with self.tally.stage("match"):
            with lock.shared() as place:
                found = self._matches_beside_others(documents, place)
            if found is None:
                with lock:
                    found = self.matches(documents)
            return found

    def _matches_beside_others(self, documents: list[Document] | Columns, place: int) -> list[Ids] | None:
        """The same while other threads do it too, each at a place of its own; None where it must be done alone.

        That is where something is due to be done first, and where anything fails.
        """
        if not self._matcher.is_ready(place) or not self._admission.is_open:
            return None
        told: list[tuple[NodeTable | DocumentPaths, Matched]] = []
        found, engine = _FoundIds(self._matcher.ids), self._matcher.engine
        try:
            for chunk in chunks(documents):
                batch = read_to_match(engine, chunk, self._matcher.limits)
                if isinstance(batch, DocumentPaths):
                    matched = Matched(engine.match_paths(batch, place), [], [])
                else:
                    matches = engine.match(batch, whether=True, place=place)
                    matched = Matched(matches.subscriptions(), matches.refused, [])
                found.add(chunk, batch.documents, matched.subscriptions)
                told.append((batch, matched))
        except Exception:
            return None
        for batch, matched in told:
            self.rejected.extend(batch.rejected)
            self._tell(batch, matched)
        return found.listed(documents)

    def messages_beside_others(self, documents: list[Document], place: int) -> Published | None:
        """The messages of a batch, while other threads make theirs, each at a place of its own; None as above."""
        if not self._matcher.is_ready(place) or len(self._matcher.joins) or not self._admission.is_open:
            return None
        made: list[BatchMessages | ListedMessages] = []
        told: list[tuple[_ToldDocuments, Deliveries]] = []
        try:
            for chunk in chunks(documents):
                table = read(chunk, self._matcher.limits)
                rows = deliveries(self._matcher.engine, table, place)
                made.append(self._batch(rows, table))
                told.append((_ToldDocuments(table.documents, table.rejected), rows))
        except Exception:
            return None
        for some, rows in told:
            self.rejected.extend(some.rejected)
            self._tell(some, rows)
        return Published(made)

    def messages(self, documents: list[Document]) -> Published:
        """The messages of a batch: by document, then subscription, those of joins behind."""
        made: list[BatchMessages | ListedMessages] = []
        self._matcher.keep_up()
        for chunk in chunks(documents):
            # Where something matches, nodes are needed, and so the document.
            skipped = {place for place, found in self._answered(chunk).items() if not found}
            table = self._read([document for document in chunk if id(document) not in skipped])
            made.append(self._selected(table))
            if len(self._matcher.joins):
                made += self._joined(with_blanks(table, chunk, skipped) if skipped else table)
        return Published(made)

    def _joined(self, table: NodeTable) -> list[BatchMessages | ListedMessages]:
        """The messages of joins; whatever fails there takes nobody else's messages along."""
        try:
            with self.tally.stage("join"):
                return self._of_joins(self._matcher.joins.process(table))
        except Exception as error:
            reason = f"{failure_of(error)}: perhaps not joined"
            self.rejected.extend(DocumentError(document.id, 1, 1, 0, reason) for document in table.documents)
            return []

    def joined(self, found: Found) -> Published:
        """The messages of joins, and those of the documents that they published."""
        return Published(self._of_joins(found))

    def _of_joins(self, found: Found) -> list[BatchMessages | ListedMessages]:
        matcher = self._matcher
        made: list[tuple[Message, Destination | None]] = []
        for each in matcher.joins.messages(found):
            subscription = matcher.subscriptions[each.number]
            ids = tuple(document.id for document in each.documents)
            trace = each.documents[-1].traceparent
            made.append((Message(subscription.id, ids[-1], (each.text,), ids, None, trace), subscription.to))
        self.rejected.extend(found.rejected)
        self._refuse(found.failed)
        published = chunks(found.published)
        return [
            ListedMessages(made),
            *(self._selected(matcher.joins.tables.of(chunk, alone=True)[0]) for chunk in published),
        ]

    def _answered(self, chunk: Sequence[Document]) -> dict[int, list[int]]:
        """What headers tell of documents; of those that must be read anyway, nothing."""
        return answered(chunk, self._matcher.headers, self._matcher.limits) if self._admission.is_open else {}

    def _read_to_match(self, documents: Sequence[Document]) -> NodeTable | DocumentPaths:
        if self._admission.is_open:
            return read_to_match(self._matcher.engine, documents, self._matcher.limits)
        return self._admission.check(documents)

    def _read(self, documents: list[Document]) -> NodeTable:
        table = read(documents, self._matcher.limits)
        table = table if self._admission.is_open else self._admission.admit(table)
        self.rejected.extend(table.rejected)
        return table

    def _selected(self, table: NodeTable) -> BatchMessages:
        """The messages that single documents bring."""
        matcher = self._matcher
        rows = deliver(matcher.engine, table, matcher)
        self._tell(table, rows)
        return self._batch(rows, table)

    def _batch(self, rows: Deliveries, table: NodeTable) -> BatchMessages:
        matcher = self._matcher
        return BatchMessages.of(rows, table.documents, matcher.ids, matcher.subscriptions.destinations, matcher.typed)

    def _tell(self, batch: NodeTable | DocumentPaths | _ToldDocuments, answer: Deliveries | Matched) -> None:
        """Remember what came to nothing."""
        self._refuse((number, batch.documents[place].id, reason) for place, number, reason in answer.refused)
        for place, reason in answer.rejected:
            self.rejected.append(DocumentError(batch.documents[place].id, 1, 1, 0, reason))

    def _refuse(self, refused: Iterable[tuple[int, str, str]]) -> None:
        """Messages that are not made: whose, of which document, and why."""
        for number, document, reason in refused:
            self.refused.append(MessageError(self._matcher.ids.of(number), document, reason))
            self.refused_count += 1


class _FoundIds:
    """What is found in a batch, document by document; rows of a column that have no document match nothing."""

    def __init__(self, names: SubscriptionIds) -> None:
        self._ids: list[Ids] = []
        self._names, self._none = names, np.zeros(0, np.int32)

    def add(self, chunk: Sequence[Document], read: Sequence[Document], subscriptions: list[Ints]) -> int:
        """The subscriptions of the documents of a chunk that could be read; where its documents begin comes back."""
        if len(read) == len(chunk) and not isinstance(chunk, DocumentColumn):
            first = len(self._ids)
            self._ids += [Ids(numbers, self._names) for numbers in subscriptions]
            return first
        if isinstance(chunk, DocumentColumn):
            first, places = 0, read.rows.tolist() if isinstance(read, DocumentColumn) else []
            self._fill(int(chunk.rows[-1]) + 1)
        else:
            first, places = len(self._ids), placed(chunk, read)
            self._fill(first + len(chunk))
        for place, numbers in zip(places, subscriptions, strict=True):
            self._ids[first + place] = Ids(numbers, self._names)
        return first

    def put(self, place: int, numbers: list[int]) -> None:
        """The subscriptions of one document, whatever else was found."""
        self._ids[place] = Ids(np.array(numbers, np.int32), self._names)

    def _fill(self, size: int) -> None:
        self._ids += [Ids(self._none, self._names) for _ in range(size - len(self._ids))]

    def listed(self, documents: list[Document] | Columns) -> list[Ids]:
        """All of it."""
        self._fill(documents.rows if isinstance(documents, Columns) else len(documents))
        return self._ids
