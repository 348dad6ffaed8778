"""The witnesses of new documents in, which documents meet and what they may be a match of out: the quick second stage.

All documents of a batch at once, as columns: their values are looked up in the postings; what comes back are pairs of
documents with the predicates that hold; and each distinct set of predicates is looked up once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, distinct, expand
from weft.joins.compile.queries import Queries
from weft.joins.match.lookups import PIECE, Equal, Lookups
from weft.joins.match.nearness import Nearness
from weft.joins.match.postings import Occurrences
from weft.joins.match.state import State
from weft.joins.match.value_codes import ValueCodes
from weft.joins.match.witness import Witnesses

_FEW = 8  # openings that are tried for a pair of documents; among more those whose windows are long enough are found


@dataclass(frozen=True, slots=True)
class Meetings:
    """Pairs of documents by their places, and an opening that each satisfies; exact ones are matches, others may be."""

    earlier: Ints
    later: Ints
    opening: Ints
    is_exact: Flags

    def at(self, places: Flags) -> Meetings:
        """Some of them."""
        return Meetings(self.earlier[places], self.later[places], self.opening[places], self.is_exact[places])


@dataclass(slots=True)
class TooMuch:
    """What is not decided for new documents, by their places: openings, and why; without openings it is all."""

    refused: list[tuple[int, set[int]]] = field(default_factory=list)
    failed: list[tuple[int, Exception]] = field(default_factory=list)


class SecondStage:
    """Finds meetings."""

    def __init__(self, queries: Queries, state: State, values: ValueCodes) -> None:
        self._queries, self._state, self._values = queries, state, values
        self._nearness = Nearness(queries, state)

    def post(self, witnesses: Witnesses, places: Ints) -> Lookups:
        """Post the values of documents at these places of the state (-1: not held); what they may meet comes back."""
        batch = self.occurrences(witnesses, places)
        runs = [*self._state.postings.runs, batch]
        self._state.postings.add(batch)
        self._state.compared.add(self._queries.extras, witnesses, places, self._values.texts)
        return Lookups(self._queries.predicates, batch, runs, self._nearness)

    def meet(self, lookups: Lookups, too_much: TooMuch) -> Iterator[Meetings]:
        """The meetings of a batch, some documents at a time; what is too much, or fails, is told."""
        for part in lookups.parts():
            try:
                made = list(self._meet(lookups, part))
            except Exception:
                made = []
                for one in lookups.documents(part):
                    try:
                        made += self._meet(lookups, one)
                    except Exception as error:  # whatever it is, it is this document's own
                        too_much.failed.append((lookups.document(one), error))
            yield from made
        for document, numbers in lookups.refused:
            too_much.refused.append((document, self._queries.predicates.needing(numbers)))

    def _meet(self, lookups: Lookups, rows: slice) -> Iterator[Meetings]:
        pair, predicate = self._together(lookups.find(rows))
        if pair.size:
            pairs = pair[np.append(True, pair[1:] != pair[:-1])]
            later, earlier = (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)
            more = self._together(lookups.more(later, earlier))
            if more[0].size:
                pair, predicate = _distinct(np.append(pair, more[0]), np.append(predicate, more[1]))
        return self._satisfied(pair, predicate)

    def _together(self, found: Iterator[Equal]) -> tuple[Longs, Ints]:
        """The distinct pairs of documents and predicates of all that is found, sorted."""
        grouped: list[tuple[Longs, Ints]] = []
        pieces: list[Equal] = []
        for each in found:
            pieces.append(each)
            if sum(piece.later.size for piece in pieces) > PIECE:
                grouped.append(self._grouped(pieces))
                pieces = []
        grouped.append(self._grouped(pieces))
        if len(grouped) == 1:
            return grouped[0]
        pairs, numbers = zip(*grouped, strict=True)
        return _distinct(np.concatenate(pairs), np.concatenate(numbers))

    def _grouped(self, pieces: list[Equal]) -> tuple[Longs, Ints]:
        """The distinct pairs of documents and predicates, of documents that are still held."""
        if not pieces:
            return np.zeros(0, np.int64), np.zeros(0, np.int32)
        none = np.zeros(0, np.int32)
        earlier = np.concatenate([none, *(piece.earlier for piece in pieces)])
        later = np.concatenate([none, *(piece.later for piece in pieces)])
        predicate = np.concatenate([none, *(piece.predicate for piece in pieces)])
        held = self._state.is_held[earlier]
        return _grouped(earlier[held], later[held], predicate[held], self._queries.predicates.bound)

    def occurrences(self, witnesses: Witnesses, places: Ints) -> Occurrences:
        """The values of the batch, each once a document and variable, sorted by value."""
        rows = np.flatnonzero((witnesses.value >= 0) & self._queries.equated.has(witnesses.variable))
        some = Occurrences(witnesses.value[rows], places[witnesses.document[rows]], witnesses.variable[rows]).sorted()
        if not some.value.size:
            return some
        is_new = np.append(True, np.any([np.diff(some.value), np.diff(some.document), np.diff(some.variable)], axis=0))
        return some.at(is_new)

    def _satisfied(self, pair: Longs, number: Ints) -> Iterator[Meetings]:
        """Pairs and predicates in, pairs and openings out, so many at a time."""
        if not pair.size:
            return
        starts = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
        answers, of_group = self._queries.predicates.satisfied(starts, number, self._queries.windows)
        sizes = np.array([answer.openings.size for answer in answers])
        pairs = pair[starts]
        few = np.flatnonzero((sizes <= _FEW)[of_group])
        bounds = np.cumsum([0, *sizes.tolist()])
        openings = np.concatenate([answer.openings for answer in answers])
        yield from self._near(pairs[few], openings, bounds[of_group[few]], bounds[of_group[few] + 1])
        for at in np.flatnonzero(sizes > _FEW).tolist():
            some, answer = pairs[of_group == at], answers[at]
            for measure, start, end in answer.measures:
                apart = self._nearness.distance(measure, *_documents(some))
                near = start + np.searchsorted(answer.lengths[start:end], apart)
                reached = near < end
                ends = np.full(int(reached.sum()), end)
                yield from self._near(some[reached], answer.openings, near[reached], ends)

    def _near(self, pairs: Longs, openings: Ints, first: Longs, last: Longs) -> Iterator[Meetings]:
        """Pairs with their ranges of openings in, those within the window that pass what these ask for out."""
        ends, at = np.cumsum(last - first), 0
        _, exact = self._queries.columns()
        multiple = self._state.is_multiple
        while at < ends.size:
            before = int(ends[at - 1]) if at else 0
            end = max(at + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
            which, inside = expand(first[at:end], last[at:end])
            earlier, later = _documents(pairs[at:end][which])
            opening = openings[inside]
            keep = self._nearness.is_near(earlier, later, opening)
            if not keep.all():
                earlier, later, opening = earlier[keep], later[keep], opening[keep]
            keep = self._state.compared.passing(self._queries.extras, earlier, later, opening)
            if not keep.all():
                earlier, later, opening = earlier[keep], later[keep], opening[keep]
            yield Meetings(earlier, later, opening, exact[opening] & ~multiple[earlier] & ~multiple[later])
            at = end


def _documents(pairs: Longs) -> tuple[Ints, Ints]:
    """The earlier and the later document of pairs."""
    return (pairs & 0xFFFFFFFF).astype(np.int32), (pairs >> 32).astype(np.int32)


def _grouped(earlier: Ints, later: Ints, predicate: Ints, predicates: int) -> tuple[Longs, Ints]:
    """Distinct (later and earlier document as one number, predicate), sorted."""
    if not earlier.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    first = int(later.min())
    bits = max(predicates - 1, 1).bit_length()
    width = int(earlier.max() + 1).bit_length()
    if int(later.max() - first + 1).bit_length() + width + bits < 63:
        keys = distinct(((later - first).astype(np.int64) << width | earlier) << bits | predicate)
        pair = keys >> bits
        whole = ((pair >> width) + first) << 32 | (pair & ((1 << width) - 1))
        return whole, (keys & ((1 << bits) - 1)).astype(np.int32)
    return _distinct(later.astype(np.int64) << 32 | earlier, predicate)


def _distinct(pair: Longs, predicate: Ints) -> tuple[Longs, Ints]:
    if not pair.size:
        return pair, predicate
    order = np.lexsort((predicate, pair))
    pair, predicate = pair[order], predicate[order]
    is_new = np.append(True, (pair[1:] != pair[:-1]) | (predicate[1:] != predicate[:-1]))
    return pair[is_new], predicate[is_new]
