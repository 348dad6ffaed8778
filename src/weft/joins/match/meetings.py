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
from weft.joins.match.postings import Occurrences
from weft.joins.match.state import State
from weft.joins.match.witness import Witnesses


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

    def __init__(self, queries: Queries, state: State) -> None:
        self._queries, self._state = queries, state

    def post(self, witnesses: Witnesses, places: Ints) -> Lookups:
        """Post the values of documents at these places of the state (-1: not held); what they may meet comes back."""
        batch = self.occurrences(witnesses, places)
        runs = [*self._state.postings.runs, batch]
        self._state.postings.add(batch)
        return Lookups(self._queries.predicates, batch, runs)

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
        grouped: list[tuple[Longs, Ints]] = []
        pieces: list[Equal] = []
        for found in lookups.find(rows):
            pieces.append(found)
            if sum(piece.later.size for piece in pieces) > PIECE:
                grouped.append(self._grouped(pieces))
                pieces = []
        grouped.append(self._grouped(pieces))
        if len(grouped) == 1:
            return self._satisfied(*grouped[0])
        pairs, numbers = zip(*grouped, strict=True)
        return self._satisfied(*_distinct(np.concatenate(pairs), np.concatenate(numbers)))

    def _grouped(self, pieces: list[Equal]) -> tuple[Longs, Ints]:
        """The distinct pairs of documents and predicates, of documents that are still held."""
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
        starts = np.flatnonzero(np.append(True, pair[1:] != pair[:-1])) if pair.size else np.zeros(0, np.int64)
        answers, of_group = self._queries.predicates.satisfied(starts, number)
        bounds = np.cumsum([0, *(answer.size for answer in answers)])
        openings = np.concatenate([np.zeros(0, np.int32), *answers])
        first, last, pairs = bounds[of_group], bounds[of_group + 1], pair[starts]
        ends, at = np.cumsum(last - first), 0
        while at < ends.size:
            before = int(ends[at - 1]) if at else 0
            end = max(at + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
            group, inside = expand(first[at:end], last[at:end])
            some = pairs[at:end][group]
            yield self._near((some & 0xFFFFFFFF).astype(np.int32), (some >> 32).astype(np.int32), openings[inside])
            at = end

    def _near(self, earlier: Ints, later: Ints, opening: Ints) -> Meetings:
        """Those within the window, as far as that is a matter of time."""
        length, strict, exact = self._queries.columns()
        timestamps = self._state.timestamps
        apart = timestamps[later] - timestamps[earlier]
        keep = (apart <= length[opening]) & ((apart > 0) | ~strict[opening])
        earlier, later, opening = earlier[keep], later[keep], opening[keep]
        multiple = self._state.is_multiple
        return Meetings(earlier, later, opening, exact[opening] & ~multiple[earlier] & ~multiple[later])


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
