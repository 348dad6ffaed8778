"""Pairwise queries and the codes of documents that are kept in, which of them a new one may be joined with out.

A *code* is a variable and a value. Documents are looked up each time by what is rarest of all that a query needs: what
very many documents have in common is looked up only from those that have the rest in common too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.columns.integers import Flags, Longs
from weft.documents.document import Document
from weft.documents.moment import END, START
from weft.joins.compile.queries import ANY_LENGTH
from weft.joins.pair_change import PairChange
from weft.joins.pairs import PairJoins

_MIXED = np.int64(-7046029254386353131)  # an odd number, so that no two values become one
#: Documents in, those that were there before on the right side: number, distance, and since when each is.
Near = Callable[[Longs], tuple[Longs, Longs, Longs]]


class Come(NamedTuple):
    """A document that comes, with the variables and values that it has; others may keep it."""

    document: Document
    variables: Sequence[int]
    keys: Sequence[int]
    is_kept: bool


@dataclass(slots=True)
class SortedRun:
    """Codes in order, with their documents, in order, and until when each is of use."""

    code: Longs
    document: Longs
    until: Longs

    def merged(self, other: SortedRun, watermark: int) -> SortedRun:
        """Both, without what is of no use any more."""
        code, document = np.concatenate([self.code, other.code]), np.concatenate([self.document, other.document])
        return sorted_run(code, document, np.concatenate([self.until, other.until]), watermark)


def sorted_run(code: Longs, document: Longs, until: Longs, watermark: int) -> SortedRun:
    """Codes that are still of use, in order."""
    kept = np.flatnonzero(until >= watermark)
    order = kept[np.lexsort((document[kept], code[kept]))]
    return SortedRun(code[order], document[order], until[order])


class Hits:
    """What one document has in common with those before, where it is the later one, or the earlier one."""

    def __init__(self) -> None:
        self.spans: dict[int, list[Longs]] = {}  # by predicate: documents, in order
        self.counts: Counter[int] = Counter()

    def add(self, predicate: int, documents: Longs) -> None:
        """Documents with which a predicate holds."""
        self.spans.setdefault(predicate, []).append(documents)
        self.counts[predicate] += documents.size

    def documents(self, predicate: int) -> Longs:
        """All documents with which a predicate holds, in order."""
        return np.unique(np.concatenate(self.spans[predicate]))

    def has(self, predicate: int, documents: Longs) -> Flags:
        """Whether a predicate holds with each of some documents."""
        found = np.zeros(documents.size, bool)
        for span in self.spans[predicate]:
            at = np.minimum(np.searchsorted(span, documents), span.size - 1)
            found |= span[at] == documents
        return found


class PairWays:
    """What the queries look for, as columns and tables."""

    def __init__(self, pairs: PairJoins) -> None:
        self._definition = pairs.definitions()
        self._variable = {number: variable for variable, number in self._definition.items()}
        self._openings = {at: (ANY_LENGTH if each is None else each, strict) for at, each, strict in pairs.openings}
        self._needs: dict[int, list[int]] = {}
        self._needing: dict[int, list[int]] = {}
        for opening, predicate in pairs.needs:
            self._needs.setdefault(opening, []).append(predicate)
            self._needing.setdefault(predicate, []).append(opening)
        self._partners: dict[int, list[tuple[int, int, bool]]] = {}  # variable: (predicate, other, it is the later)
        reach: dict[int, int] = {}
        for predicate, earlier, later in pairs.predicates:
            self._partners.setdefault(later, []).append((predicate, earlier, True))
            self._partners.setdefault(earlier, []).append((predicate, later, False))
            longest = max(self._openings[each][0] for each in self._needing[predicate])
            reach[earlier] = max(reach.get(earlier, 0), longest)
        self._reach = reach
        self._known: dict[frozenset[int], list[int]] = {}

    def change(self, kept: Sequence[Come], first: int, moment: int) -> PairChange:
        """Documents that are to be kept."""
        size = len(kept)
        return PairChange(
            START,
            first + size,
            np.arange(first, first + size, dtype=np.int64),
            np.array([one.document.nanoseconds or 0 for one in kept], np.int64),
            np.full(size, moment, np.int64),
            np.array([len(one.keys) for one in kept], np.int64),
            np.array([self._definition[each] for one in kept for each in one.variables], np.int64),
            np.array([each for one in kept for each in one.keys], np.int64),
        )

    def codes(self, change: PairChange) -> tuple[Longs, Longs, Longs, Longs]:
        """Until when each document is of use; and each code, with its document and until when it is."""
        row = np.repeat(np.arange(change.number.size), change.size)
        variables, place = np.unique(change.definition, return_inverse=True)
        reaches = [self._reach.get(self._variable.get(each, -1), 0) for each in variables.tolist()]
        is_known = np.array([each in self._variable for each in variables.tolist()], bool)[place]
        reach = np.array(reaches, np.int64)[place]
        uses = np.where(reach > END - change.nanoseconds[row], END, change.nanoseconds[row] + reach)
        uses = np.where(is_known, uses, START)
        until = np.full(change.number.size, START, np.int64)
        np.maximum.at(until, row, uses)
        return until, _code(change.definition, change.key), change.number[row], uses

    def hits(self, come: Sequence[Come], runs: Sequence[SortedRun]) -> Iterator[tuple[int, tuple[Hits, Hits]]]:
        """What each of some documents has in common with those that are kept."""
        asked = [
            (at, predicate, is_later, self._definition[other], key)
            for at, one in enumerate(come)
            for variable, key in zip(one.variables, one.keys, strict=True)
            for predicate, other, is_later in self._partners.get(variable, ())
        ]
        if not asked:
            return
        rows, predicates, sides, definitions, keys = zip(*asked, strict=True)
        codes = _code(np.array(definitions, np.int64), np.array(keys, np.int64))
        found: dict[int, tuple[Hits, Hits]] = {}
        for run in runs:
            start, end = np.searchsorted(run.code, codes), np.searchsorted(run.code, codes, "right")
            for each in np.flatnonzero(start < end).tolist():
                hits = found.setdefault(rows[each], (Hits(), Hits()))[not sides[each]]
                hits.add(predicates[each], run.document[start[each] : end[each]])
        yield from sorted(found.items(), key=lambda one: one[0])

    def openings(self, hits: Hits, near: Near) -> Iterator[tuple[int, Iterable[tuple[int, int]]]]:
        """The ways to be joined whose values a document shares with others, with these, by what is rarest."""
        known: dict[int, tuple[Longs, Longs, Longs]] = {}
        for opening in self._satisfied(hits):
            rarest, *others = sorted(self._needs[opening], key=lambda each: hits.counts[each])
            if rarest not in known:
                known[rarest] = near(hits.documents(rarest))
            documents, gap, came = known[rarest]
            length, is_strict = self._openings[opening]
            within = np.flatnonzero((gap <= length) & (gap > 0 if is_strict else gap >= 0))
            for predicate in others:
                within = within[hits.has(predicate, documents[within])] if within.size else within
            if within.size:
                yield opening, zip(documents[within].tolist(), came[within].tolist(), strict=True)

    def _satisfied(self, hits: Hits) -> list[int]:
        given = frozenset(hits.counts)
        if given not in self._known:
            found = Counter(opening for predicate in given for opening in self._needing[predicate])
            self._known[given] = sorted(each for each, number in found.items() if number == len(self._needs[each]))
        return self._known[given]


def _code(definition: Longs, key: Longs) -> Longs:
    with np.errstate(over="ignore"):
        code: Longs = (key * _MIXED) ^ definition
    return code
