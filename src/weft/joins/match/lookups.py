"""Occurrences of new documents in, which earlier documents have equal values where some predicate asks for it out.

An occurrence is looked up among those of its value, if these are few, or else by each variable that some predicate
equates with its own: so what nobody equates never meets, however often a value occurs. What is found is bounded for
each document, and made in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, expand, spans
from weft.joins.compile.predicates import Predicates
from weft.joins.match.postings import Occurrences

PIECE = 1 << 20  # occurrences that are compared at once
MOST_COMPARED = 1 << 24  # for one new document
_FEW = 4  # occurrences of a value, for each variable that would be looked up instead


@dataclass(frozen=True, slots=True)
class Equal:
    """Equal values: the later document, the earlier one, and the predicate that holds by that."""

    later: Ints
    earlier: Ints
    predicate: Ints


@dataclass(frozen=True, slots=True)
class _Ranges:
    """Rows of a run for rows of the batch. The owner is the predicate, or ~variable for all those of a variable."""

    run: Occurrences
    row: Longs
    start: Longs
    end: Longs
    owner: Longs

    def at(self, places: Flags | slice) -> _Ranges:
        return _Ranges(self.run, self.row[places], self.start[places], self.end[places], self.owner[places])


class Lookups:
    """The occurrences of a batch, sorted by document, with those that they are looked up among.

    `refused` has what is too much: the new documents, and the predicates that are not decided for each.
    """

    def __init__(self, predicates: Predicates, batch: Occurrences, runs: Sequence[Occurrences]) -> None:
        self._predicates, self._runs = predicates, runs
        partners = predicates.partner_counts(batch.variable)
        batch, partners = batch.at(partners > 0), partners[partners > 0]
        order = np.argsort(batch.document, kind="stable")
        self._batch, self._partners = batch.at(order), partners[order]
        self.refused: list[tuple[int, list[int]]] = []

    def parts(self) -> list[slice]:
        """The rows of some whole documents at a time, as few as it takes not to compare too much at once."""
        costs = np.zeros(self._batch.value.size, np.int64)
        for run in self._runs:
            start, end = spans(run.value, self._batch.value)
            costs += np.minimum(end - start, _FEW * self._partners)
        return _portions(np.cumsum(costs), self.documents(slice(0, costs.size)))

    def documents(self, rows: slice) -> list[slice]:
        """The rows of each document."""
        document = self._batch.document[rows]
        cuts = np.flatnonzero(document[1:] != document[:-1]) + 1 + rows.start
        bounds = [rows.start, *cuts.tolist(), rows.stop] if document.size else []
        return [slice(start, end) for start, end in pairwise(bounds)]

    def document(self, rows: slice) -> int:
        """The first document of some rows."""
        return int(self._batch.document[rows.start])

    def find(self, rows: slice) -> Iterator[Equal]:
        """What is found for some rows, in pieces."""
        ranges = [each for run in self._runs for each in self._ranges(run, rows)]
        for each in self._bounded(ranges):
            bounds = np.cumsum(each.end - each.start)
            for piece in _portions(bounds, [slice(at, at + 1) for at in range(bounds.size)]) if bounds.size else []:
                yield self._equal(each.at(piece))

    def _ranges(self, run: Occurrences, rows: slice) -> Iterator[_Ranges]:
        """Where to look for the values of some rows in a run."""
        value, variable, partners = self._batch.value[rows], self._batch.variable[rows], self._partners[rows]
        start, end = spans(run.value, value)
        is_few = end - start <= _FEW * partners
        few = np.flatnonzero(is_few & (start < end))
        yield _Ranges(run, few + rows.start, start[few], end[few], ~variable[few].astype(np.int64))
        many = np.flatnonzero(~is_few)
        if many.size:
            which, partner, predicate = self._predicates.partners(variable[many])
            first, last = run.of_variables(start[many[which]], partner)
            there = first < last
            row = many[which[there]] + rows.start
            yield _Ranges(run, row, first[there], last[there], predicate[there].astype(np.int64))

    def _bounded(self, ranges: list[_Ranges]) -> list[_Ranges]:
        """The ranges without those that are too much for their document, the greatest owners'; these are refused."""
        if sum(int((each.end - each.start).sum()) for each in ranges) <= MOST_COMPARED:
            return ranges
        document = np.concatenate([self._batch.document[each.row] for each in ranges])
        owner = np.concatenate([each.owner for each in ranges])
        size = np.concatenate([each.end - each.start for each in ranges])
        keep = np.ones(size.size, bool)
        for one in np.unique(document).tolist():
            here = np.flatnonzero(document == one)
            owners, place = np.unique(owner[here], return_inverse=True)
            sizes = np.bincount(place, size[here], owners.size)
            order = np.argsort(sizes, kind="stable")
            beyond = order[np.cumsum(sizes[order]) > MOST_COMPARED]
            if beyond.size:
                self.refused.append((one, self._predicates.of_owners(owners[beyond].tolist())))
                keep[here[np.isin(place, beyond)]] = False
        cuts = np.cumsum([each.row.size for each in ranges])[:-1]
        return [each.at(kept) for each, kept in zip(ranges, np.split(keep, cuts), strict=True)]

    def _equal(self, ranges: _Ranges) -> Equal:
        which, inside = expand(ranges.start, ranges.end)
        row, earlier = ranges.row[which], ranges.run.document[inside]
        later = self._batch.document[row]
        predicate = ranges.owner[which].astype(np.int32)
        if predicate.size and predicate[0] < 0:  # the variables decide
            predicate = self._predicates.of_pairs(ranges.run.variable[inside], self._batch.variable[row])
        keep = (predicate >= 0) & (earlier < later)
        return Equal(later[keep], earlier[keep], predicate[keep])


def _portions(bounds: Longs, parts: Sequence[slice]) -> list[slice]:
    """Neighbouring parts put together as long as they are small; `bounds` has the costs up to each row, with it."""
    ends = bounds[[part.stop - 1 for part in parts]] if parts else bounds
    portions, at = [], 0
    while at < len(parts):
        before = int(ends[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
        portions.append(slice(parts[at].start, parts[end - 1].stop))
        at = end
    return portions
