"""Seeds with their predicates in, for a set of predicates that hold the openings that it satisfies out.

A *predicate* is a pair of variables, that of the earlier document first, whose values are equal. A *opening* is a way
for a query to begin with two documents, and has a set of predicates. Distinct predicates are few, distinct sets fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.columns.integers import Ints, Longs, expand, spans
from weft.joins.compile.reach import PredicateReach, WindowMeasure

_BITS = 62  # predicates that fit into a mask
_KEPT = 1_000_000  # numbers in cached answers


@dataclass(frozen=True, slots=True)
class WindowColumns:
    """For each opening what its window is measured in, and how far it reaches."""

    measure: Ints  # time, or the documents of a stream by its number
    length: Longs


@dataclass(frozen=True, slots=True)
class SatisfiedOpenings:
    """Openings, those of one measure together, and the shortest window first."""

    openings: Ints
    lengths: Longs
    measures: tuple[tuple[int, int, int], ...]  # and where the openings of each begin and end


class Predicates:
    """All predicates, and the openings by their sets of predicates."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self._users: Counter[tuple[int, int]] = Counter()  # how many openings need each
        self._free: list[int] = []  # numbers of predicates that are gone
        self._openings: dict[frozenset[int], set[int]] = {}
        self._anchors: dict[int, set[frozenset[int]]] = {}  # sets by one of their predicates, the rarest
        self._anchor: dict[frozenset[int], int] = {}  # which one that is
        self._known: dict[bytes, SatisfiedOpenings] = {}
        self._leading: dict[tuple[int, ...], frozenset[int]] = {}
        self._cached = 0
        self._pairs: Ints = np.full((64, 2), -1, np.int32)  # by number; below zero where it is free
        self._table: tuple[Longs, Ints] | None = None
        self._partners: tuple[Longs, Ints, Ints] | None = None
        self.reach = PredicateReach()

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, opening: int, pairs: Iterable[tuple[int, int]], window: WindowMeasure) -> None:
        """Take in an opening that needs all of these predicates."""
        needed = frozenset(map(self._number, pairs))
        for number in needed:
            self.reach.add(number, window)
        if needed not in self._openings:
            self._openings[needed] = set()
            anchor = min(needed, key=lambda number: (len(self._anchors.get(number, ())), number))
            self._anchors.setdefault(anchor, set()).add(needed)
            self._anchor[needed] = anchor
        self._openings[needed].add(opening)
        self._forget()

    def _number(self, pair: tuple[int, int]) -> int:
        """The number of a predicate that one more opening needs."""
        self._users[pair] += 1
        number = self._numbers.get(pair)
        if number is None:
            number = self._numbers[pair] = self._free.pop() if self._free else len(self._numbers)
            if number == len(self._pairs):
                self._pairs = np.concatenate([self._pairs, np.full_like(self._pairs, -1)])
            self._pairs[number] = pair
        return number

    def remove(self, opening: int, pairs: Iterable[tuple[int, int]], window: WindowMeasure) -> None:
        """Let an opening go, and the predicates that only it needed; their numbers are given again."""
        given = list(pairs)
        needed = frozenset(self._numbers[pair] for pair in given)
        self._openings[needed].remove(opening)
        if not self._openings[needed]:
            del self._openings[needed]
            anchor = self._anchor.pop(needed)
            self._anchors[anchor].remove(needed)
            if not self._anchors[anchor]:
                del self._anchors[anchor]
        for number in needed:
            self.reach.remove(number, window)
        for pair in given:
            self._users[pair] -= 1
            if not self._users[pair]:
                del self._users[pair]
                self._free.append(self._numbers.pop(pair))
                self._pairs[self._free[-1]] = -1
        self._forget()

    @property
    def bound(self) -> int:
        """All numbers of predicates are below this."""
        return len(self._numbers) + len(self._free)

    def _forget(self) -> None:
        self._table = self._partners = None
        self._leading.clear()
        self._known.clear()
        self._cached = 0

    def of_pairs(self, earlier: Ints, later: Ints) -> Ints:
        """The number of the predicate of each pair of variables; -1 where there is none."""
        if self._table is None:
            there = self._there()
            keys = self._pairs[there, 0].astype(np.int64) << 32 | self._pairs[there, 1]
            order = np.argsort(keys, kind="stable")
            self._table = keys[order], there[order]
        keys, numbers = self._table
        if not keys.size:
            return np.full(earlier.size, -1, np.int32)
        wanted = earlier.astype(np.int64) << 32 | later
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[at] == wanted, numbers[at], -1)

    def partner_counts(self, later: Ints) -> Longs:
        """How many variables predicates equate with each of these, if it is the later document's."""
        start, end = spans(self._by_later()[0], later.astype(np.int64))
        return end - start

    def partners(self, later: Ints) -> tuple[Longs, Ints, Ints]:
        """(place among these, variable of an earlier document, predicate) for all predicates with these variables."""
        variables, earlier, numbers = self._by_later()
        which, inside = expand(*spans(variables, later.astype(np.int64)))
        return which, earlier[inside], numbers[inside]

    def of_owners(self, owners: Iterable[int]) -> list[int]:
        """Predicates, where ~v stands for all those with v as the later document's variable, by their numbers."""
        found: set[int] = set()
        for owner in owners:
            if owner >= 0:
                found.add(owner)
            else:
                found.update(self.partners(np.array([~owner], np.int32))[2].tolist())
        return sorted(found)

    def needing(self, numbers: Iterable[int]) -> set[int]:
        """The openings that need one of these predicates."""
        wanted = set(numbers)
        return {opening for needed, some in self._openings.items() if needed & wanted for opening in some}

    def _by_later(self) -> tuple[Longs, Ints, Ints]:
        """The predicates by the later document's variable: that, the earlier one's, and their numbers."""
        if self._partners is None:
            there = self._there()
            there = there[np.argsort(self._pairs[there, 1], kind="stable")]
            self._partners = self._pairs[there, 1].astype(np.int64), self._pairs[there, 0], there
        return self._partners

    def _there(self) -> Ints:
        """The numbers that are not free."""
        return np.flatnonzero(self._pairs[: self.bound, 0] >= 0).astype(np.int32)

    def leading(self, rarest_first: Sequence[int]) -> frozenset[int]:
        """Which of some predicates must be followed so that none of the sets within them is missed.

        Those are the rarest of each set: documents that do not even satisfy that one do not satisfy the set.
        """
        key = tuple(rarest_first)
        found = self._leading.get(key)
        if found is None:
            if len(self._leading) > _KEPT // 64:
                self._leading.clear()
            held, rank = set(key), {number: at for at, number in enumerate(key)}
            found = self._leading[key] = frozenset(min(needed, key=rank.__getitem__) for needed in self._within(held))
        return found

    def _within(self, held: set[int]) -> Iterable[frozenset[int]]:
        """The sets of predicates that these hold."""
        return (needed for number in held for needed in self._anchors.get(number, ()) if needed <= held)

    def satisfied(self, starts: Longs, numbers: Ints, windows: WindowColumns) -> tuple[list[SatisfiedOpenings], Longs]:
        """Groups of predicates (each sorted, each once) in; the distinct answers, and the answer of each group, out."""
        if not starts.size:
            return [], starts
        ends = np.append(starts[1:], numbers.size)
        if starts.size == 1:
            return [self._answer(numbers.tobytes(), numbers, windows)], np.zeros(1, np.int64)
        _, first, of_group = np.unique(self._keys(starts, ends, numbers), return_index=True, return_inverse=True)
        answers = []
        for at in first.tolist():
            some = numbers[starts[at] : ends[at]]
            answers.append(self._answer(some.tobytes(), some, windows))
        return answers, of_group

    def _keys(self, starts: Longs, ends: Longs, numbers: Ints) -> Longs:
        """What tells sets apart: a mask where there are few predicates, else one number, or a number for each set."""
        if self.bound <= _BITS:
            masks: Longs = np.add.reduceat(np.int64(1) << numbers.astype(np.int64), starts)
            return masks
        keys = numbers[starts].astype(np.int64)
        sets: dict[bytes, int] = {}
        for group in np.flatnonzero(ends - starts > 1).tolist():
            keys[group] = ~sets.setdefault(numbers[starts[group] : ends[group]].tobytes(), len(sets))
        return keys

    def _answer(self, key: bytes, numbers: Ints, windows: WindowColumns) -> SatisfiedOpenings:
        answer = self._known.get(key)
        if answer is None:
            if self._cached > _KEPT:
                self._known.clear()
                self._cached = 0
            answer = self._known[key] = self._look_up(set(numbers.tolist()), windows)
            self._cached += answer.openings.size + 8
        return answer

    def _look_up(self, held: set[int], windows: WindowColumns) -> SatisfiedOpenings:
        found = [opening for needed in self._within(held) for opening in self._openings[needed]]
        openings = np.array(found, np.int32)
        measure, length = windows.measure[openings], windows.length[openings]
        order = np.lexsort((openings, length, measure))
        measure = measure[order]
        cuts = [0, *(np.flatnonzero(np.diff(measure)) + 1).tolist(), measure.size]
        measures = tuple((int(measure[start]), start, end) for start, end in pairwise(cuts) if start < end)
        return SatisfiedOpenings(openings[order], length[order], measures)
