"""The witnesses of new documents in, which documents meet and what they may be a match of out: the quick second stage.

All documents of a batch at once, as columns: their values are looked up in the postings; what comes back are pairs of
documents with the predicates that hold; and each distinct set of predicates is looked up once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, distinct, expand
from weft.joins.compile.queries import Queries
from weft.joins.match.postings import Occurrences, meet
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


class SecondStage:
    """Finds meetings."""

    def __init__(self, queries: Queries, state: State) -> None:
        self._queries, self._state = queries, state

    def meet(self, witnesses: Witnesses, places: Ints) -> Meetings:
        """The meetings of a batch whose documents have these places in the state (-1: not held); they are posted."""
        occurrences = self.occurrences(witnesses, places)
        old = self._state.postings.meet(occurrences)
        own = meet([occurrences], occurrences)
        self._state.postings.add(occurrences)
        at, earlier, variable = (np.concatenate([one, other]) for one, other in zip(old, own, strict=True))
        later = occurrences.document[at]
        keep = (earlier < later) & self._state.is_held[earlier]
        at, earlier, variable, later = at[keep], earlier[keep], variable[keep], later[keep]
        predicate = self._queries.predicates.of_pairs(variable, occurrences.variable[at])
        known = predicate >= 0
        return self._satisfied(earlier[known], later[known], predicate[known])

    def occurrences(self, witnesses: Witnesses, places: Ints) -> Occurrences:
        """The values of the batch, each once a document and variable, sorted by value."""
        rows = np.flatnonzero((witnesses.value >= 0) & np.isin(witnesses.variable, self._queries.variables()))
        some = Occurrences(witnesses.value[rows], places[witnesses.document[rows]], witnesses.variable[rows]).sorted()
        if not some.value.size:
            return some
        is_new = np.append(True, np.any([np.diff(some.value), np.diff(some.document), np.diff(some.variable)], axis=0))
        return some.at(is_new)

    def _satisfied(self, earlier: Ints, later: Ints, predicate: Ints) -> Meetings:
        """Pairs and predicates in, pairs and openings out."""
        pair, number = _grouped(earlier, later, predicate, self._queries.predicates.bound)
        starts = np.flatnonzero(np.append(True, pair[1:] != pair[:-1])) if pair.size else np.zeros(0, np.int64)
        answers, of_group = self._queries.predicates.satisfied(starts, number)
        bounds = np.cumsum([0, *(answer.size for answer in answers)])
        group, inside = expand(bounds[of_group], bounds[of_group + 1])
        opening = np.concatenate([np.zeros(0, np.int32), *answers])[inside]
        pairs = pair[starts][group]
        return self._near((pairs & 0xFFFFFFFF).astype(np.int32), (pairs >> 32).astype(np.int32), opening)

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
    pair = later.astype(np.int64) << 32 | earlier
    order = np.lexsort((predicate, pair))
    pair, predicate = pair[order], predicate[order]
    is_new = np.append(True, (pair[1:] != pair[:-1]) | (predicate[1:] != predicate[:-1]))
    return pair[is_new], predicate[is_new]
