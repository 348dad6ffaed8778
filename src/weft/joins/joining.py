"""Documents whose turn it is in, what they match with those before and with each other out.

A document is held, and its values are posted, before it meets others: whatever becomes of that, later documents find
it. What is too much, or fails, is told with its query and its document, and costs nobody else anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.columns.integers import Ints
from weft.errors import DocumentError, failure_of
from weft.joins.compile.queries import Queries, SharedJoin
from weft.joins.match.lookups import MOST_COMPARED, Lookups
from weft.joins.match.meetings import Meetings, SecondStage, TooMuch
from weft.joins.match.search import Search, TooManyError, Tries
from weft.joins.match.state import Held, Numbered, State, hold
from weft.joins.match.value_codes import ValueCodes
from weft.joins.match.witness import Witnesses, take
from weft.joins.output.found import Found
from weft.joins.time.absence import Absences
from weft.joins.time.arrivals import Arrival


class Joining:
    """The second stage as a whole: what meets quickly, and what must be searched."""

    def __init__(self, queries: Queries, state: State, search: Search, absences: Absences, values: ValueCodes) -> None:
        self._queries, self._state, self._search, self._absences = queries, state, search, absences
        self._second = SecondStage(queries, state, values)

    # -- documents are held

    def hold_again(self, made: Sequence[Held], witnesses: Witnesses) -> None:
        """Hold documents that were held before, with their witnesses."""
        self._second.post(witnesses, self._places(made))

    def _places(self, batch: Sequence[Held]) -> Ints:
        """Hold the documents of a batch that have witnesses, and say where."""
        held = [self._state.add(one) if one.rows[0] < one.rows[1] else -1 for one in batch]
        return np.array(held, np.int32)

    def _hold(self, ripe: Sequence[Arrival]) -> tuple[Witnesses, Ints, Lookups]:
        """Hold documents whose turn it is; their witnesses, their places in the state, and what they may meet."""
        first = ripe[0].witnesses
        is_whole = all(one.witnesses is first and one.place == at for at, one in enumerate(ripe))
        is_whole = is_whole and int(first.document.max(initial=-1)) < len(ripe)
        witnesses = first if is_whole else take([(one.witnesses, one.place) for one in ripe])
        next_one = self._state.sequence
        made = hold(
            [Numbered(one.document, one.timestamp, next_one + at, one.number) for at, one in enumerate(ripe)], witnesses
        )
        for one in ripe:
            self._state.history.number(one.document.stream, one.timestamp)
        places = self._places(made)
        return witnesses, places, self._second.post(witnesses, places)

    # -- documents are joined

    def join(self, ripe: Sequence[Arrival], found: Found) -> None:
        """Hold documents, and find what they match."""
        if not ripe:
            return
        witnesses, places, lookups = self._hold(ripe)
        too_much = TooMuch()
        tries: dict[tuple[int, int], Tries] = {}  # by the new document and the query's shape
        for meetings in self._second.meet(lookups, too_much):
            if meetings.is_exact.any():
                found.meetings.append(meetings.at(meetings.is_exact))
            self._search_some(meetings.at(~meetings.is_exact), found, tries)
        self._tell(too_much, found)
        self._begin_single(witnesses, places, found)

    def _search_some(self, rest: Meetings, found: Found, tries: dict[tuple[int, int], Tries]) -> None:
        columns = rest.earlier.tolist(), rest.later.tolist(), rest.opening.tolist()
        for earlier, later, number in zip(*columns, strict=True):
            opening = self._queries.openings[number]
            assert opening is not None
            of_query = tries.setdefault((later, id(opening.shared)), self._search.tries())
            self._verify(self._state.at(earlier), self._state.at(later), number, found, of_query)

    def _verify(self, one: Held, other: Held, number: int, found: Found, tries: Tries) -> None:
        """Whether two documents that meet are a match, with others if there are more blocks."""
        opening = self._queries.openings[number]
        assert opening is not None
        shape, given = opening.shared.shape, {opening.newest: other, opening.partner: one}
        if one.arrival < opening.shared.since:
            return  # its witnesses are those that were asked for before
        if opening.is_exact and one.multiple.isdisjoint(opening.pivots) and other.multiple.isdisjoint(opening.pivots):
            found.searched.append((opening.shared, (given[0], given[1])))
        elif self._search.is_near(shape, opening.newest, given):
            try:
                since, order = opening.shared.since, opening.order
                for documents in self._search.complete(shape, opening.newest, order, given, since, tries):
                    self._accept(opening.shared, documents, found, tries)
            except Exception as error:  # whatever it is, it is this query's own
                found.fail(opening.shared, (one, other), error)

    def _begin_single(self, witnesses: Witnesses, places: Ints, found: Found) -> None:
        """The queries, or what stands before an absence, that have one block."""
        single = self._queries.single
        if not single:
            return
        rows = np.flatnonzero(self._queries.tops.has(witnesses.variable))
        tops = zip(places[witnesses.document[rows]].tolist(), witnesses.variable[rows].tolist(), strict=True)
        for place, top in dict.fromkeys(tops):
            for shared in single[top]:
                documents = (self._state.at(place),)
                try:
                    self._accept(shared, documents, found, self._search.tries())
                except Exception as error:  # whatever it is, it is this query's own
                    found.fail(shared, documents, error)

    def _accept(self, shared: SharedJoin, documents: tuple[Held, ...], found: Found, tries: Tries) -> None:
        """A match, if the bindings say so; one that must not be followed waits."""
        if not self._search.is_match(shared.shape, documents, tries):
            return
        if shared.shape.is_absence:
            self._absences.wait(shared, documents)
        else:
            found.searched.append((shared, documents))

    def _tell(self, too_much: TooMuch, found: Found) -> None:
        """Who misses which new documents."""
        for place, openings in too_much.refused:
            error = TooManyError(f"to be joined, more than {MOST_COMPARED:,} equal values would have to be looked at")
            for opening in (self._queries.openings[number] for number in sorted(openings)):
                if opening is not None:
                    found.fail(opening.shared, (self._state.at(place),), error)
        for place, failure in too_much.failed:
            reason = f"{failure_of(failure)}: not joined with those before it"
            found.rejected.append(DocumentError(self._state.at(place).document.id, 1, 1, 0, reason))
