"""Occurrences of new documents in, which earlier documents have equal values where some predicate asks for it out.

An occurrence is looked up among those of its value, if these are few, or else by each variable that some predicate
equates with its own: so what nobody equates never meets, however often a value occurs. There only what some window can
reach is looked at. Where that is still much for a predicate, it is followed only if no rarer one of each set that needs
it is: what it holds for is asked of the documents that the rarer ones lead to. What is found is bounded for each
document, and made in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, expand, spans
from weft.joins.compile.predicates import Predicates
from weft.joins.match.nearness import Nearness
from weft.joins.match.postings import Occurrences

PIECE = 1 << 20  # occurrences that are compared at once
MOST_COMPARED = 1 << 24  # for one new document
_FEW = 4  # occurrences of a value, for each variable that would be looked up instead
_MANY = 16  # occurrences in the reach of a predicate, from which on it is better asked of what others lead to


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
    first: Longs  # where the value begins, or the variable's rows of it
    start: Longs
    end: Longs
    owner: Longs

    def at(self, places: Longs | Flags | slice) -> _Ranges:
        return _Ranges(
            self.run, self.row[places], self.first[places], self.start[places], self.end[places], self.owner[places]
        )

    @property
    def size(self) -> Longs:
        return self.end - self.start


class Lookups:
    """The occurrences of a batch, sorted by document, with those that they are looked up among.

    `refused` has what is too much: the new documents, and the predicates that are not decided for each.
    """

    def __init__(
        self, predicates: Predicates, batch: Occurrences, runs: Sequence[Occurrences], nearness: Nearness
    ) -> None:
        self._predicates, self._runs, self._nearness = predicates, runs, nearness
        partners = predicates.partner_counts(batch.variable)
        if not partners.all():
            batch, partners = batch.at(partners > 0), partners[partners > 0]
        if batch.document.size and (batch.document[0] != batch.document[1:]).any():
            order = np.argsort(batch.document, kind="stable")
            batch, partners = batch.at(order), partners[order]
        self._batch, self._partners = batch, partners
        self.refused: list[tuple[int, list[int]]] = []

    def parts(self) -> list[slice]:
        """The rows of some whole documents at a time, as few as it takes not to compare too much at once."""
        whole = slice(0, self._batch.value.size)
        documents = self.documents(whole)
        if len(documents) < 2:
            return documents
        costs = np.zeros(self._batch.value.size, np.int64)
        for run in self._runs:
            start, end = spans(run.value, self._batch.value)
            costs += np.minimum(end - start, _FEW * self._partners)
        return _portions(np.cumsum(costs), documents)

    def documents(self, rows: slice) -> list[slice]:
        """The rows of each document."""
        document = self._batch.document[rows]
        cuts = np.flatnonzero(document[1:] != document[:-1]) + 1 + rows.start
        bounds = [rows.start, *cuts.tolist(), rows.stop] if document.size else []
        return [slice(start, end) for start, end in pairwise(bounds)]

    def document(self, rows: slice) -> int:
        """The first document of some rows."""
        return int(self._batch.document[rows.start])

    # -- what is found

    def find(self, rows: slice) -> Iterator[Equal]:
        """What is found for some rows, in pieces; what rarer predicates lead to is to be asked for more."""
        ranges = [each for run in self._runs for each in self._ranges(run, rows)]
        ranges, self._others = self._chosen(ranges)
        for each in self._bounded(ranges):
            bounds = np.cumsum(each.size)
            for piece in _portions(bounds, [slice(at, at + 1) for at in range(bounds.size)]) if bounds.size else []:
                yield self._equal(each.at(piece))

    def more(self, later: Ints, earlier: Ints) -> Iterator[Equal]:
        """The other predicates that hold for distinct pairs of documents which were found; sorted by the later one."""
        for ranges in self._others:
            document = self._batch.document[ranges.row]
            start, end = spans(later, document)
            for piece in _portions(np.cumsum(end - start), [slice(at, at + 1) for at in range(start.size)]):
                which, pair = expand(start[piece], end[piece])
                some = ranges.at(piece)
                there = ranges.run.has(some.first[which], earlier[pair])
                which, pair = which[there], pair[there]
                yield Equal(later[pair], earlier[pair], some.owner[which].astype(np.int32))

    def _ranges(self, run: Occurrences, rows: slice) -> Iterator[_Ranges]:
        """Where to look for the values of some rows in a run."""
        value, variable, partners = self._batch.value[rows], self._batch.variable[rows], self._partners[rows]
        start, end = spans(run.value, value)
        is_few = end - start <= _FEW * partners
        few = np.flatnonzero(is_few & (start < end))
        if few.size:
            first = start[few]
            yield _Ranges(run, few + rows.start, first, first, end[few], ~variable[few].astype(np.int64))
        if few.size == start.size:
            return
        many = np.flatnonzero(~is_few)
        if many.size:
            which, partner, predicate = self._predicates.partners(variable[many])
            first, last = run.of_variables(start[many[which]], partner)
            there = np.flatnonzero(first < last)
            row = many[which[there]] + rows.start
            begin = first[there]
            yield self._near(_Ranges(run, row, begin, begin, last[there], predicate[there].astype(np.int64)))

    def _near(self, ranges: _Ranges) -> _Ranges:
        """The ranges without the documents that come later, and those that no window of their predicate can reach."""
        if not ranges.row.size or int(ranges.size.max()) <= _MANY:
            return ranges
        document = self._batch.document[ranges.row]
        nearest = self._nearness.first_places(self._predicates.reach, document, ranges.owner)
        start = np.maximum(ranges.start, ranges.run.from_document(ranges.first, nearest))
        end = np.minimum(ranges.end, ranges.run.from_document(ranges.first, document))
        near = replace(ranges, start=start, end=np.maximum(start, end))
        return near.at(near.size > 0)

    # -- the rarest first

    def _chosen(self, ranges: list[_Ranges]) -> tuple[list[_Ranges], list[_Ranges]]:
        """The ranges that are followed, and those that are asked of what these lead to."""
        own = [at for at, each in enumerate(ranges) if each.owner.size and each.owner[0] >= 0]
        if not own or max(int(ranges[at].size.max()) for at in own) <= _MANY:
            return ranges, []
        document = np.concatenate([self._batch.document[ranges[at].row] for at in own]).astype(np.int64)
        keys = document << 32 | np.concatenate([ranges[at].owner for at in own])
        size = np.concatenate([ranges[at].size for at in own])
        held, place, rows = np.unique(keys, return_inverse=True, return_counts=True)
        totals = np.bincount(place, size, held.size).astype(np.int64)
        followed = self._leading(ranges, held, totals, rows)[place]
        cuts = np.cumsum([ranges[at].row.size for at in own])[:-1]
        others = []
        for at, some in zip(own, np.split(followed, cuts), strict=True):
            others.append(ranges[at].at(~some))
            ranges[at] = ranges[at].at(some)
        return ranges, [each for each in others if each.row.size]

    def _leading(self, ranges: list[_Ranges], held: Longs, totals: Longs, rows: Longs) -> Flags:
        """Which predicates of which documents are followed: rare ones, and the rarest of each set of common ones."""
        common = totals > _MANY
        followed = ~common
        document = held >> 32
        first = int(document[0])
        of_document = (document - first).astype(np.int64)
        led = np.bincount(of_document[followed], totals[followed], int(of_document[-1]) + 1)  # pairs, as floats
        for each in ranges:
            if each.owner.size and each.owner[0] < 0:
                at = self._batch.document[each.row] - first
                inside = (at >= 0) & (at < led.size)
                led = led + np.bincount(at[inside], each.size[inside], led.size)
        for start, end in _runs(of_document[common]):
            some = np.flatnonzero(common)[start:end]
            some = some[np.argsort(totals[some], kind="stable")]
            numbers = (held[some] & 0xFFFFFFFF).tolist()
            leading = self._predicates.leading(numbers)
            spent = led[of_document[some[0]]] + sum(
                total for total, number in zip(totals[some].tolist(), numbers, strict=True) if number in leading
            )
            followed[some] = [number in leading for number in numbers] | (spent * rows[some] >= totals[some])
        return followed

    # -- bounds

    def _bounded(self, ranges: list[_Ranges]) -> list[_Ranges]:
        """The ranges without those that are too much for their document, the greatest owners'; these are refused."""
        if sum(int(each.size.sum()) for each in ranges) <= MOST_COMPARED:
            return ranges
        document = np.concatenate([self._batch.document[each.row] for each in ranges])
        owner = np.concatenate([each.owner for each in ranges])
        size = np.concatenate([each.size for each in ranges])
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


def _runs(sorted_numbers: Longs) -> Iterator[tuple[int, int]]:
    """Where equal numbers begin and end."""
    cuts = (np.flatnonzero(np.diff(sorted_numbers)) + 1).tolist()
    return pairwise([0, *cuts, sorted_numbers.size])


def _portions(bounds: Longs, parts: Sequence[slice]) -> list[slice]:
    """Neighbouring parts put together as long as they are small; `bounds` has the costs up to each row, with it."""
    if bounds.size and int(bounds[-1]) <= PIECE and parts:
        return [slice(parts[0].start, parts[-1].stop)]
    ends = bounds[[part.stop - 1 for part in parts]] if parts else bounds
    portions, at = [], 0
    while at < len(parts):
        before = int(ends[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
        portions.append(slice(parts[at].start, parts[end - 1].stop))
        at = end
    return portions
