"""Documents in, messages with their destinations out; what comes to nothing is remembered, and told when asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from weft.broker.answers import Matched, answered, chunks, deliver, match, read_to_match
from weft.broker.change_lock import ChangeLock
from weft.broker.deliveries import Deliveries
from weft.broker.destinations import Destination, Message
from weft.broker.ids import Ids
from weft.broker.matcher import Matcher
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.gather import with_blanks
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.errors import DocumentError, MessageError, failure_of
from weft.joins.output.found import Found

#: Messages, each with where it goes if it goes anywhere.
Addressed = list[tuple[Message, Destination | None]]
_KEPT = 10_000  # rejected documents and refused messages that are remembered


class Publisher:
    """Makes the messages of one broker."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.rejected: deque[DocumentError] = deque(maxlen=_KEPT)
        self.refused: deque[MessageError] = deque(maxlen=_KEPT)
        self.refused_count = 0  # messages that were not made, also those no longer remembered

    def matches(self, documents: list[Document]) -> list[Ids]:
        """For each document the ids of the subscriptions that match it."""
        found: list[Ids] = []
        self._matcher.keep_up()
        names, none = self._matcher.ids, np.zeros(0, np.int32)
        for chunk in chunks(documents):
            answers = answered(chunk, self._matcher.headers, self._matcher.limits)
            unknown = [document for document in chunk if id(document) not in answers]
            batch = read_to_match(self._matcher.engine, unknown, self._matcher.limits)
            self.rejected.extend(batch.rejected)
            matched = match(self._matcher.engine, batch, self._matcher)
            self._tell(batch, matched)
            known = dict(zip(map(id, batch.documents), matched.subscriptions, strict=True))
            for place, numbers in answers.items():
                single = [number for number in numbers if number not in self._matcher.joins]
                known[place] = np.array(single, np.int32)
            found += [Ids(known.get(id(document), none), names) for document in chunk]
        return found

    def matches_under(self, lock: ChangeLock, documents: list[Document]) -> list[Ids]:
        """The same, beside other threads where that can be, else alone."""
        with lock.shared() as place:
            found = self._matches_beside_others(documents, place)
        if found is None:
            with lock:
                found = self.matches(documents)
        return found

    def _matches_beside_others(self, documents: list[Document], place: int) -> list[Ids] | None:
        """The same while other threads do it too, each at a place of its own; None where it must be done alone.

        That is where something is due to be done first, and where anything fails.
        """
        if not self._matcher.is_at_rest:
            return None
        found: list[Ids] = []
        told: list[tuple[NodeTable | DocumentPaths, Matched]] = []
        names, none, engine = self._matcher.ids, np.zeros(0, np.int32), self._matcher.engine
        try:
            for chunk in chunks(documents):
                batch = read_to_match(engine, chunk, self._matcher.limits)
                if isinstance(batch, DocumentPaths):
                    matched = Matched(engine.match_paths(batch, place), [], [])
                else:
                    matches = engine.match(batch, whether=True, place=place)
                    matched = Matched(matches.subscriptions(), matches.refused, [])
                known = dict(zip(map(id, batch.documents), matched.subscriptions, strict=True))
                found += [Ids(known.get(id(document), none), names) for document in chunk]
                told.append((batch, matched))
        except Exception:
            return None
        for batch, matched in told:
            self.rejected.extend(batch.rejected)
            self._tell(batch, matched)
        return found

    def messages(self, documents: list[Document]) -> Addressed:
        """The messages of a batch: by document, then subscription, those of joins behind."""
        made: Addressed = []
        self._matcher.keep_up()
        for chunk in chunks(documents):
            # Where something matches, nodes are needed, and so the document.
            skipped = {
                place
                for place, found in answered(chunk, self._matcher.headers, self._matcher.limits).items()
                if not found
            }
            table = self._read([document for document in chunk if id(document) not in skipped])
            made += self._selected(table)
            if len(self._matcher.joins):
                made += self._joined(with_blanks(table, chunk, skipped) if skipped else table)
        return made

    def _joined(self, table: NodeTable) -> Addressed:
        """The messages of joins; whatever fails there takes nobody else's messages along."""
        try:
            return self.joined(self._matcher.joins.process(table))
        except Exception as error:
            reason = f"{failure_of(error)}: perhaps not joined"
            self.rejected.extend(DocumentError(document.id, 1, 1, 0, reason) for document in table.documents)
            return []

    def joined(self, found: Found) -> Addressed:
        """The messages of joins, and those of the documents that they published."""
        matcher = self._matcher
        made: Addressed = []
        for each in matcher.joins.messages(found):
            subscription = matcher.subscriptions[each.number]
            ids = tuple(document.id for document in each.documents)
            made.append((Message(subscription.id, ids[-1], (each.text,), ids), subscription.to))
        self.rejected.extend(found.rejected)
        self._refuse(found.failed)
        for chunk in chunks(found.published):
            made += self._selected(matcher.joins.tables.of(chunk, alone=True)[0])
        return made

    def _read(self, documents: list[Document]) -> NodeTable:
        table = read(documents, self._matcher.limits)
        self.rejected.extend(table.rejected)
        return table

    def _selected(self, table: NodeTable) -> Addressed:
        """The messages that single documents bring."""
        rows = deliver(self._matcher.engine, table, self._matcher)
        self._tell(table, rows)
        starts = [*np.flatnonzero(rows.is_first).tolist(), len(rows.text)]
        made: Addressed = []
        for start, end in pairwise(starts):
            subscription = self._matcher.subscriptions[int(rows.subscription[start])]
            document = table.documents[int(rows.document[start])]
            made.append((Message(subscription.id, document.id, tuple(rows.text[start:end])), subscription.to))
        return made

    def _tell(self, batch: NodeTable | DocumentPaths, answer: Deliveries | Matched) -> None:
        """Remember what came to nothing."""
        self._refuse((number, batch.documents[place].id, reason) for place, number, reason in answer.refused)
        for place, reason in answer.rejected:
            self.rejected.append(DocumentError(batch.documents[place].id, 1, 1, 0, reason))

    def _refuse(self, refused: Iterable[tuple[int, str, str]]) -> None:
        """Messages that are not made: whose, of which document, and why."""
        for number, document, reason in refused:
            self.refused.append(MessageError(self._matcher.ids.of(number), document, reason))
            self.refused_count += 1
