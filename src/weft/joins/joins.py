"""XSCL plans and documents in, matches and messages out: both stages, time, absence and cascades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from weft.automaton.labels import Bounds
from weft.documents.build import read
from weft.documents.columns import Ints
from weft.documents.document import Document, Limits
from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable
from weft.joins.absence import Absences, Closed
from weft.joins.arrivals import Arrival, Arrivals
from weft.joins.meetings import Meetings, SecondStage
from weft.joins.outputs import Outputs, Row, Written
from weft.joins.queries import Entry, Queries, Subscriber
from weft.joins.retention import make_is_over
from weft.joins.search import Nodes, Search
from weft.joins.shapes import Compiled, Shape, compile_plan
from weft.joins.state import Held, State, hold
from weft.joins.streams import Streams
from weft.joins.witness import FirstStage, Witnesses, take
from weft.plans.xscl import Xscl

_OFTEN = 256  # documents between two looks for those that can go, at least


@dataclass(frozen=True, slots=True)
class JoinMessage:
    """What a query delivers for some documents: the text, and when the last of them came or the window closed."""

    number: int
    documents: tuple[Document, ...]
    text: str
    timestamp: float


@dataclass(slots=True)
class Found:
    """The matches of some documents, as shapes and documents: who gets them is told as late as possible.

    It is good until more documents come.
    """

    state: State
    queries: Queries
    meetings: list[Meetings] = field(default_factory=list)  # those that are matches
    searched: list[tuple[Entry, tuple[Held, ...]]] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    published: list[Document] = field(default_factory=list)  # what became of messages that are a stream

    @property
    def count(self) -> int:
        """How many matches there are: for each subscriber each combination of documents."""
        sizes = np.array([0 if seed is None else len(seed.entry.subscribers) for seed in self.queries.seeds])
        pairs = sum(int(sizes[part.seed].sum()) for part in self.meetings)
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


@dataclass(slots=True)
class Known:
    """A plan that some queries have: what it was compiled to, how many they are, and their kind of subscriber."""

    plan: Xscl
    compiled: Compiled
    written: Written
    users: int = 0
    last: Subscriber | None = None

    def subscriber(self, since: int) -> Subscriber:
        """A subscriber from a document on; there are very many, and most are the same."""
        if self.last is None or self.last.since != since:
            self.last = Subscriber(since, self.written, self.plan.publish)
        return self.last


class Joins:
    """All XSCL queries by their numbers.

    Documents are joined in the order of their timestamps; those without one get the time when they come. `lateness` is
    how many seconds a document may come late: so long others wait for it. One that comes later still is counted in
    `late`, and not joined.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        lateness: float = 0.0,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.stage = FirstStage(bounds, dtd)
        self.state = State()
        self.arrivals = Arrivals(lateness)
        self.queries = Queries()
        self.search = Search(self.state, self.stage.values)
        self.second = SecondStage(self.queries, self.state)
        self.absences = Absences(self.state, self.search)
        self.outputs = Outputs(self.limits)
        self._streams = Streams()
        self._known: dict[Xscl, Known] = {}
        self._plans: dict[int, Known] = {}
        self.published = 0  # how many messages have become documents
        self._looked = 0  # at which sequence number documents were let go last

    def __len__(self) -> int:
        return len(self._plans)

    def __contains__(self, number: object) -> bool:
        return number in self._plans

    @property
    def late(self) -> int:
        """How many documents came too late to be joined."""
        return self.arrivals.late

    # -- queries

    def add(self, number: int, plan: Xscl, from_state: bool = False) -> None:
        """Take in a query. It sees the documents from now on; with `from_state` also those that are still held.

        Raises ConfigurationError if it would read what it publishes.
        """
        self._streams.add(number, plan.publish, (block.stream for block in plan.blocks))
        known = self._known.get(plan)
        if known is None:
            compiled = compile_plan(plan, self.stage)
            known = self._known[plan] = Known(plan, compiled, self.outputs.written(plan, compiled))
        self._plans[number] = known
        known.users += 1
        self.queries.add(number, known.compiled.shape, known.subscriber(0 if from_state else self.state.sequence))

    def remove(self, number: int) -> None:
        """Let a query go, and what only it asked for."""
        known = self._plans.pop(number)
        self.queries.remove(number, known.compiled.shape)
        self._streams.remove(number)
        known.users -= 1
        if not known.users:
            del self._known[known.plan]
            for asked, valued in known.compiled.asked:
                self.stage.remove(asked, valued)

    def shape(self, number: int) -> Shape:
        """The shape of a query."""
        return self._plans[number].compiled.shape

    def plans(self) -> Iterator[tuple[Xscl, Shape]]:
        """The distinct plans, each with its shape."""
        return ((known.plan, known.compiled.shape) for known in self._known.values())

    def since(self, number: int) -> int:
        """The sequence number of the first document that a query sees."""
        return self.queries.entries[self.shape(number)].subscribers[number].since

    def set_since(self, number: int, since: int) -> None:
        """A query sees the documents from this sequence number on."""
        known = self._plans[number]
        self.queries.replace(number, known.compiled.shape, known.subscriber(since))

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Give all queries new numbers."""
        self._plans = {numbers[number]: known for number, known in self._plans.items()}
        self._streams.renumber(numbers)
        for entry in self.queries.entries.values():
            entry.subscribers = {numbers[number]: each for number, each in entry.subscribers.items()}

    # -- documents

    def process(self, table: NodeTable) -> Found:
        """Documents come; what they match, with those before and with each other, comes back."""
        return self.join(table.documents, self.stage.read(table))

    def join(self, documents: Sequence[Document], witnesses: Witnesses) -> Found:
        """The second stage: documents come with their witnesses."""
        self._let_go()
        found = Found(self.state, self.queries)
        self._join(self.arrivals.come(documents, witnesses), found)
        return found

    def advance(self, timestamp: float = inf) -> Found:
        """Time passes: no document before this timestamp can come any more. `inf` ends the stream."""
        self._let_go()
        found = Found(self.state, self.queries)
        self._join(self.arrivals.advance(timestamp), found)
        return found

    def _join(self, ripe: list[Arrival], found: Found) -> None:
        """Join the documents whose turn it is. Messages that are documents come in between: then it is one by one."""
        if self._streams:
            for one in ripe:
                self._close(one.timestamp, found)
                self._come(one, found)
        else:
            self._join_batch(ripe, found)
        self._close(self.arrivals.watermark, found)

    def _join_batch(self, ripe: list[Arrival], found: Found) -> None:
        if not ripe:
            return
        first = ripe[0].witnesses
        is_whole = all(one.witnesses is first and one.place == at for at, one in enumerate(ripe))
        is_whole = is_whole and int(first.document.max(initial=-1)) < len(ripe)
        witnesses = first if is_whole else take([(one.witnesses, one.place) for one in ripe])
        places = self._hold(ripe, witnesses)
        meetings = self.second.meet(witnesses, places)
        if meetings.is_exact.any():
            found.meetings.append(meetings.at(meetings.is_exact))
        rest = meetings.at(~meetings.is_exact)
        for earlier, later, number in zip(rest.earlier.tolist(), rest.later.tolist(), rest.seed.tolist(), strict=True):
            self._look(earlier, later, number, found)
        self._begin_alone(witnesses, places, found)

    def _hold(self, ripe: list[Arrival], witnesses: Witnesses) -> Ints:
        """The places of the batch's documents in the state; those without witnesses have none."""
        sequences = [self.state.number(one.document.stream, one.timestamp) for one in ripe]
        return self.hold(hold([one.document for one in ripe], [one.timestamp for one in ripe], sequences, witnesses))

    def hold(self, batch: Sequence[Held]) -> Ints:
        """Hold the documents of a batch that have witnesses, and say where."""
        places = np.full(len(batch), -1, np.int32)
        if batch:
            witnesses = batch[0].witnesses
            same = (np.diff(witnesses.document) == 0) & (np.diff(witnesses.variable) == 0)
            multiple = set(witnesses.document[1:][same].tolist())
            for at, one in enumerate(batch):
                if one.rows[0] < one.rows[1]:
                    places[at] = self.state.add(one, at in multiple)
        return places

    def _look(self, earlier: int, later: int, number: int, found: Found) -> None:
        """Whether two documents that meet are a match, with others if there are more blocks."""
        seed = self.queries.seeds[number]
        assert seed is not None
        shape = seed.entry.shape
        given = {seed.newest: self.state.at(later), seed.partner: self.state.at(earlier)}
        if self.search.is_near(shape, seed.newest, given):
            for documents in self.search.complete(shape, seed.newest, given):
                self._take(seed.entry, documents, found)

    def _begin_alone(self, witnesses: Witnesses, places: Ints, found: Found) -> None:
        """The queries, or what stands before an absence, that have one block."""
        alone = self.queries.alone
        if not alone:
            return
        rows = np.flatnonzero(np.isin(witnesses.variable, np.fromiter(alone, np.int32, len(alone))))
        tops = zip(places[witnesses.document[rows]].tolist(), witnesses.variable[rows].tolist(), strict=True)
        for place, top in dict.fromkeys(tops):
            for entry in alone[top]:
                self._take(entry, (self.state.at(place),), found)

    def _take(self, entry: Entry, documents: tuple[Held, ...], found: Found) -> None:
        """A match, if the bindings say so; one that must not be followed waits."""
        if not self.search.is_match(entry.shape, documents):
            return
        if entry.shape.is_absence:
            self.absences.wait(entry, documents)
        else:
            found.searched.append((entry, documents))

    # -- messages that are documents

    def _come(self, one: Arrival, found: Found) -> None:
        """A document, and then those that its messages are."""
        alone = Found(self.state, self.queries)
        self._join_batch([one], alone)
        found.meetings += alone.meetings
        found.searched += alone.searched
        self._publish(alone, found)

    def _close(self, watermark: float, found: Found) -> None:
        for closed in self.absences.close(watermark):
            found.closed.append(closed)
            if self._streams:
                self._publish(Found(self.state, self.queries, closed=[closed]), found)

    def _publish(self, alone: Found, found: Found) -> None:
        """The messages of queries that publish become documents."""
        rows = [(row, at, subscriber.publish) for _, subscriber, row, at in self.rows(alone) if subscriber.publish]
        texts = list(self.outputs.write([row for row, _, _ in rows]))
        for text, (_, timestamp, stream) in zip(texts, rows, strict=True):
            self.published += 1
            document = Document(text, f"{stream}-{self.published}", stream or "", timestamp)
            table = read([document], self.limits)
            if table.documents:  # a message may be text alone, which is no document
                found.published.append(document)
                self._come(Arrival(document, timestamp, self.stage.read(table), 0), found)

    # -- messages

    def messages(self, found: Found) -> Iterator[JoinMessage]:
        """The messages of matches, one after the other."""
        rows = list(self.rows(found))
        texts = self.outputs.write([row for _, _, row, _ in rows])
        for text, (number, _, row, timestamp) in zip(texts, rows, strict=True):
            yield JoinMessage(number, row.documents, text, timestamp)

    def rows(self, found: Found) -> Iterator[tuple[int, Subscriber, Row, float]]:
        """The messages to be: for each subscriber the documents and output nodes, and the message's timestamp."""
        for entry, documents in found.documents():
            timestamp = max(one.timestamp for one in documents)
            yield from fan_out(entry, documents, self.search.outputs(entry.shape, documents), timestamp)
        for closed in found.closed:
            yield from fan_out(closed.entry, closed.documents, closed.outputs, closed.timestamp)

    # -- documents go

    def _let_go(self) -> None:
        """Now and then: the documents that no window can reach any more, and their values."""
        state = self.state
        if state.sequence - self._looked < max(_OFTEN, len(state) // 4):
            return
        self._looked = state.sequence
        is_compact = state.drop(make_is_over(self.queries.entries, state, self.arrivals.watermark))
        waiting = [one for _, documents in self.absences for one in documents]
        state.trim(min((one.sequence for one in (*state, *waiting)), default=state.sequence))
        if is_compact:
            codes = [one.values() for one in (*state, *waiting)]
            codes += [one.witnesses.value for one in self.arrivals]
            self.stage.values.keep(np.concatenate([np.zeros(0, np.int64), *codes]))


def fan_out(
    entry: Entry, documents: Sequence[Held], outputs: Iterable[tuple[Nodes, ...]], timestamp: float
) -> Iterator[tuple[int, Subscriber, Row, float]]:
    """A row for each subscriber and each distinct output."""
    oldest = min(one.sequence for one in documents)
    sources = tuple(one.document for one in documents)
    subscribers = [(number, each) for number, each in entry.subscribers.items() if each.since <= oldest]
    for nodes in outputs:
        for number, subscriber in subscribers:
            yield number, subscriber, Row(subscriber.written, sources, nodes), timestamp
