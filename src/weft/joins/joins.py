"""XSCL plans and documents in, matches and messages out: both stages, time, absence and cascades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from weft.automaton.labels import Bounds
from weft.documents.build import read
from weft.documents.columns import Ints
from weft.documents.document import Document, Limits
from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable
from weft.errors import ConfigurationError
from weft.joins.absence import Absences
from weft.joins.arrivals import Arrival, Arrivals
from weft.joins.found import Found, JoinMessage
from weft.joins.meetings import SecondStage
from weft.joins.outputs import Outputs, Written
from weft.joins.queries import Entry, Queries, Subscriber
from weft.joins.retention import make_is_over
from weft.joins.search import Search
from weft.joins.shapes import Compiled, Shape, compile_plan
from weft.joins.state import Held, Numbered, State, hold
from weft.joins.streams import Streams
from weft.joins.witness import FirstStage, Witnesses, take
from weft.plans.xscl import Xscl

_CHUNK = 64  # documents that are read at once
_OFTEN = 256  # documents between two looks for those that can go, at least


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
        shape = known.compiled.shape
        entry = self.queries.entries.get(shape)
        is_new = entry is None or entry.since > 0
        self.queries.add(number, shape, known.subscriber(0 if from_state else self.arrivals.number))
        if from_state and is_new and len(self.state):
            self._witness_again()

    def _witness_again(self) -> None:
        """Somebody asks for more about documents that are held."""
        before = self.state.begin_anew()
        for start in range(0, len(before), _CHUNK):
            self.hold_again([Numbered(*one.numbered) for one in before[start : start + _CHUNK]])

    def hold_again(self, documents: Sequence[Numbered]) -> list[Held]:
        """Hold documents that were held before, with the witnesses that are asked for now."""
        table = read([one.document for one in documents], self.limits)
        if table.rejected:
            raise ConfigurationError(f"a document that is held breaks the limits: {table.rejected[0]}")
        witnesses = self.stage.read(table)
        made = hold(documents, witnesses)
        self.state.postings.add(self.second.occurrences(witnesses, self.hold(made)))
        return made

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

    def numbers(self) -> Iterator[int]:
        """The numbers of all queries."""
        return iter(self._plans)

    def shape(self, number: int) -> Shape:
        """The shape of a query."""
        return self._plans[number].compiled.shape

    def plans(self) -> Iterator[tuple[Xscl, Shape]]:
        """The distinct plans, each with its shape."""
        return ((known.plan, known.compiled.shape) for known in self._known.values())

    def since(self, number: int) -> int:
        """The first document that a query sees, by how they came."""
        return self.queries.entries[self.shape(number)].subscribers[number].since

    def set_since(self, number: int, since: int) -> None:
        """A query sees the documents from this one on, by how they came."""
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
        self._let_go(witnesses)
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
                self._close(one.timestamp, found)  # it may be the last one of a window in documents
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
        numbered = [
            Numbered(one.document, one.timestamp, self.state.number(one.document.stream, one.timestamp), one.number)
            for one in ripe
        ]
        return self.hold(hold(numbered, witnesses))

    def hold(self, batch: Sequence[Held]) -> Ints:
        """Hold the documents of a batch that have witnesses, and say where."""
        held = [self.state.add(one) if one.rows[0] < one.rows[1] else -1 for one in batch]
        return np.array(held, np.int32)

    def _look(self, earlier: int, later: int, number: int, found: Found) -> None:
        """Whether two documents that meet are a match, with others if there are more blocks."""
        seed = self.queries.seeds[number]
        assert seed is not None
        shape, one, other = seed.entry.shape, self.state.at(earlier), self.state.at(later)
        given = {seed.newest: other, seed.partner: one}
        if one.arrival < seed.entry.since:
            return  # its witnesses are those that were asked for before
        if seed.is_exact and one.multiple.isdisjoint(seed.fragile) and other.multiple.isdisjoint(seed.fragile):
            found.searched.append((seed.entry, (given[0], given[1])))
        elif self.search.is_near(shape, seed.newest, given):
            for documents in self.search.complete(shape, seed.newest, given, seed.entry.since):
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
        for closed in self.absences.close(watermark, self.arrivals.latest):
            found.closed.append(closed)
            if self._streams:
                self._publish(Found(self.state, self.queries, closed=[closed]), found)

    def _publish(self, alone: Found, found: Found) -> None:
        """The messages of queries that publish become documents."""
        due = [each for each in alone.due(self.search) if each.subscriber.publish]
        texts = list(self.outputs.write([each.row for each in due]))
        for text, each in zip(texts, due, strict=True):
            stream = each.subscriber.publish or ""
            self.published += 1
            document = Document(text, f"{stream}-{self.published}", stream, each.timestamp)
            table = read([document], self.limits)
            found.rejected += table.rejected
            if table.documents:
                found.published.append(document)
                number, self.arrivals.number = self.arrivals.number, self.arrivals.number + 1
                self._come(Arrival(document, each.timestamp, self.stage.read(table), 0, number), found)

    # -- messages

    def messages(self, found: Found) -> Iterator[JoinMessage]:
        """The messages of matches, in the order of time."""
        due = found.due(self.search)
        for text, each in zip(self.outputs.write([one.row for one in due]), due, strict=True):
            yield JoinMessage(each.number, each.row.documents, text, each.timestamp)

    # -- documents go

    def _let_go(self, coming: Witnesses | None = None) -> None:
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
            codes += [coming.value] if coming is not None else []
            self.stage.values.keep(np.concatenate([np.zeros(0, np.int64), *codes]))
