"""XSCL plans and documents in, matches and messages out: both stages, time, absence and cascades."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.dtd import Dtd
from weft.documents.moment import END, Span, exact_seconds, span
from weft.documents.table import NodeTable
from weft.engine.paths.bounds import Bounds
from weft.errors import ConfigurationError, DocumentError
from weft.joins.compile.queries import Queries
from weft.joins.compile.registered import Registered
from weft.joins.joining import Joining
from weft.joins.match.confined import FirstRead, read_confined
from weft.joins.match.search import Search, TooManyError
from weft.joins.match.state import Held, Numbered, State, hold
from weft.joins.match.witness import FirstStage, Witnesses
from weft.joins.output.found import Due, Found, JoinMessage, fail, written
from weft.joins.output.outputs import Outputs
from weft.joins.output.tables import Tables
from weft.joins.time.absence import Absences
from weft.joins.time.arrivals import ANY_TIME, Arrival, Arrivals, Clock
from weft.plans.xscl import Xscl

_CHUNK = 64  # documents that are read at once
_OFTEN = 256  # documents between two looks for those that can go, at least


class Joins:
    """All XSCL queries by their numbers.

    Documents are joined in the order of their timestamps; those without one get the time when they come. `lateness` is
    how long a document may come late: so long others wait for it. One that comes later still is counted in `late`, and
    not joined; so is in `ahead` one that is too far ahead (see `Arrivals`; infinity: none is).
    """

    def __init__(
        self,
        limits: Limits | None = None,
        lateness: Span = 0,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        ahead: Span | None = None,
        clock: Clock = time.time_ns,
    ) -> None:
        self.limits = limits or Limits()
        self.stage = FirstStage(bounds, dtd)
        self.state = State()
        furthest = None if ahead is None else ANY_TIME if ahead == inf else span(ahead, "ahead")
        self.arrivals = Arrivals(span(lateness, "lateness"), furthest, clock)
        self.queries = Queries()
        self._most = min(self.limits.max_joined, self.limits.max_messages)
        self.search = Search(self.state, self.stage.values, self._most)
        self.absences = Absences(self.state, self.search)
        self.joining = Joining(self.queries, self.state, self.search, self.absences, self.stage.values)
        self.tables = Tables(self.limits)
        self.outputs = Outputs(self.limits, self.tables)
        self.registered = Registered(self.queries, self.stage, self.outputs)
        self.published = 0  # how many messages have become documents
        self._cascade = 0  # how many of them came of the last document, at whatever remove
        self._segment = _CHUNK  # how many documents are joined at once while some query publishes
        self._forgotten_at = 0  # at which sequence number documents were let go last

    def __len__(self) -> int:
        return len(self.registered)

    def __contains__(self, number: object) -> bool:
        return number in self.registered

    @property
    def late(self) -> int:
        """How many documents came too late to be joined."""
        return self.arrivals.progress.late

    @property
    def ahead(self) -> int:
        """How many documents were dated too far ahead to be joined."""
        return self.arrivals.progress.ahead

    # -- queries

    def add(self, number: int, plan: Xscl, from_state: bool = False) -> None:
        """Take in a query. It sees the documents from now on; with `from_state` also those that are still held.

        Raises ConfigurationError if it would read what it publishes, or has too many blocks.
        """
        if len(plan.blocks) > self.limits.max_query_nesting:
            found = f"expected at most {self.limits.max_query_nesting} blocks, found {len(plan.blocks)}"
            raise ConfigurationError(f"XSCL: {found}")
        asks_more = self.registered.add(number, plan, 0 if from_state else self.arrivals.progress.number)
        if from_state and asks_more:
            self._witness_again()

    def remove(self, number: int) -> None:
        """Let a query go, and what only it asked for."""
        self.registered.remove(number)

    def _witness_again(self) -> None:
        """Somebody asks for more about documents that are held."""
        parts = list(self.witness([Numbered(*one.numbered) for one in self.state]))
        waiting = self.witness_waiting([Numbered(one.document, one.timestamp, -1, one.number) for one in self.arrivals])
        self.state.begin_anew()
        for made, witnesses in parts:
            self.joining.hold_again(made, witnesses)
        self.arrivals.restore(self.arrivals.progress, waiting)

    def witness(self, documents: Sequence[Numbered]) -> Iterator[tuple[list[Held], Witnesses]]:
        """Documents that were held before, in parts, with what is asked for now; it changes nothing."""
        for start in range(0, len(documents), _CHUNK):
            part = documents[start : start + _CHUNK]
            table = read([one.document for one in part], self.limits)
            if table.rejected:
                raise ConfigurationError(f"a document that is held breaks the limits: {table.rejected[0]}")
            witnesses = read_confined(self.stage, table, self.limits).witnesses
            yield hold(part, witnesses), witnesses

    def witness_waiting(self, documents: Sequence[Numbered]) -> list[Arrival]:
        """The same of documents that still wait for their turn."""
        return [
            Arrival(one.document, one.timestamp, witnesses, place, one.arrival)
            for made, witnesses in self.witness(documents)
            for place, one in enumerate(made)
        ]

    # -- documents

    def process(self, table: NodeTable) -> Found:
        """Documents come; what they match, with those before and with each other, comes back."""
        self.tables.keep(table)
        first = read_confined(self.stage, table, self.limits)
        found = self.join(table.documents, first.witnesses)
        self._tell(first, table, found)
        return found

    def _tell(self, first: FirstRead, table: NodeTable, found: Found) -> None:
        """Who misses which documents, and which all miss."""
        for place, reasons in first.refused:
            for number, reason in reasons.items():
                for query in self.registered.asking([number]):
                    found.failures.setdefault((query, table.documents[place].id), reason)
        for place, reason in first.rejected:
            found.rejected.append(DocumentError(table.documents[place].id, 1, 1, 0, reason))

    def join(self, documents: Sequence[Document], witnesses: Witnesses) -> Found:
        """The second stage: documents come with their witnesses."""
        self._forget_old(witnesses)
        found = Found(self.state, self.queries)
        ripe, found.rejected = self.arrivals.come(documents, witnesses)
        self._join(ripe, found)
        return found

    def advance(self, timestamp: int = END) -> Found:
        """Time passes: no document before this moment, in nanoseconds, can come any more. `END` ends the stream."""
        self._forget_old()
        found = Found(self.state, self.queries)
        self._join(self.arrivals.advance(timestamp), found)
        return found

    def _join(self, ripe: list[Arrival], found: Found) -> None:
        """Join the documents whose turn it is. Messages that are documents come in between."""
        if not self.registered.streams:
            self.joining.join(ripe, found)
        elif self.queries.absent:  # windows close between two documents
            for one in ripe:
                self._close(one.timestamp, found)
                self._join_one(one, found)
                self._close(one.timestamp, found)  # it may be the last one of a window in documents
        else:
            self._join_in_segments(ripe, found)
        self._close(self.arrivals.progress.watermark, found)

    def _join_in_segments(self, ripe: list[Arrival], found: Found) -> None:
        """Join so many documents at once as publish nothing: fewer where some do, more again where none does."""
        at = 0
        while at < len(ripe):
            some = ripe[at : at + self._segment]
            if self._join_silent(some, found):
                self._segment = min(2 * self._segment, _CHUNK)
            elif len(some) > 1:
                self._segment = len(some) // 2
                continue
            else:
                self._join_one(some[0], found)
            at += len(some)

    def _join_silent(self, some: list[Arrival], found: Found) -> bool:
        """Join documents if nothing is published because of them; else nothing has happened."""
        mark = self.state.mark()
        together = Found(self.state, self.queries)
        self.joining.join(some, together)
        if together.may_publish:
            self.state.cut(mark)
            return False
        found.take(together)
        return True

    # -- messages that are documents

    def _join_one(self, one: Arrival, found: Found) -> None:
        """A document, and then those that its messages are."""
        self._cascade = 0
        self._publish(self._join_alone(one, found), found)

    def _join_alone(self, one: Arrival, found: Found) -> Found:
        """What a document alone brings; it is put to what is found."""
        alone = Found(self.state, self.queries, failures=found.failures, rejected=found.rejected)
        self.joining.join([one], alone)
        found.meetings += alone.meetings
        found.searched += alone.searched
        return alone

    def _close(self, watermark: int, found: Found) -> None:
        for closed in self.absences.close(watermark, self.arrivals.progress.latest, found.fail):
            found.closed.append(closed)
            if self.registered.streams:
                self._cascade = 0
                self._publish(Found(self.state, self.queries, closed=[closed], failures=found.failures), found)

    def _publish(self, alone: Found, found: Found) -> None:
        """The messages of queries that publish become documents, each followed by those that come of it."""
        waiting = [self._publishing(alone, found)]  # at each remove those that are still to come
        while waiting:
            following = next(waiting[-1], None)
            if following is None:
                waiting.pop()
            elif (arrival := self._as_document(*following, found)) is not None:
                waiting.append(self._publishing(self._join_alone(arrival, found), found))

    def _publishing(self, alone: Found, found: Found) -> Iterator[tuple[Due, str]]:
        due = [each for each in alone.due(self.search) if each.subscriber.publish] if alone.may_publish else []
        return iter(list(written(self.outputs, due, found.failures)))

    def _as_document(self, each: Due, text: str, found: Found) -> Arrival | None:
        """A message as a document that comes now, if it can be one."""
        if self._cascade == self._most:
            error = TooManyError(f"more than {self._most:,} documents are published in consequence of one")
            fail(found.failures, [each.number], each.newest, error)
            return None
        stream = each.subscriber.publish or ""
        self._cascade += 1
        self.published += 1
        document = Document(text, f"{stream}-{self.published}", stream, exact_seconds(each.timestamp))
        table = read([document], self.limits)
        found.rejected += table.rejected
        if not table.documents:
            return None
        self.tables.keep(table)
        found.published.append(document)
        first = read_confined(self.stage, table, self.limits)
        self._tell(first, table, found)
        return Arrival(document, each.timestamp, first.witnesses, 0, self.arrivals.next_number())

    # -- messages

    def messages(self, found: Found) -> Iterator[JoinMessage]:
        """The messages of matches, in the order of time; what cannot be made is in `found.failed` behind the last."""
        for each, text in written(self.outputs, found.due(self.search), found.failures):
            yield JoinMessage(each.number, each.row.documents, text, each.timestamp)

    # -- documents go

    def _forget_old(self, coming: Witnesses | None = None) -> None:
        """Now and then: the documents that no window can reach any more, and their values."""
        state, values = self.state, self.stage.values
        if state.sequence - self._forgotten_at >= max(_OFTEN, len(state) // 4):
            self._forgotten_at = state.sequence
            self.absences.forget()
            is_compact = state.drop(self.queries.reach.make_is_over(state, self.arrivals.progress.watermark))
            oldest = min((one.sequence for one in (*state, *self._waiting())), default=state.sequence)
            state.history.trim(oldest, self.absences.counted_streams)
            if is_compact:
                self._forget_values(coming)
        if values.has_grown:  # also by documents that were late
            self._forget_values(coming)

    def _waiting(self) -> list[Held]:
        """The documents that wait for their windows to close."""
        return [one for _, documents in self.absences for one in documents]

    def _forget_values(self, coming: Witnesses | None) -> None:
        codes = [one.values() for one in (*self.state, *self._waiting())]
        codes += [one.witnesses.value for one in self.arrivals]
        codes += [coming.value] if coming is not None else []
        self.stage.values.keep(np.concatenate([np.zeros(0, np.int64), *codes]))
