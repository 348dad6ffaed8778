"""Values in, the documents that have them out: postings as sorted columns that merge as they grow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs, contains, spans

_LAST = int(np.iinfo(np.int32).max)
_GROWTH = 4  # a run joins the one before it when that is not so many times as long


@dataclass(frozen=True)
class Occurrences:
    """Values in documents, as columns: the value, the document's place in the state, and the variable that has it."""

    value: Longs
    document: Ints
    variable: Ints

    def sorted(self) -> Occurrences:
        """The same by value, then variable, then document."""
        return self.at(np.lexsort((self.document, self.variable, self.value)))

    def at(self, places: NDArray[np.integer] | Flags) -> Occurrences:
        """Some of them."""
        return Occurrences(self.value[places], self.document[places], self.variable[places])

    @cached_property
    def _keys(self) -> Longs:
        return _keys(self)

    @cached_property
    def _places(self) -> Longs:
        """Where a row's value and variable begin, and its document, as one number; sorted."""
        keys = self._keys
        at = np.arange(keys.size)
        is_new = np.append(True, keys[1:] != keys[:-1]) if keys.size else np.zeros(0, bool)
        return np.maximum.accumulate(np.where(is_new, at, 0)) << 32 | self.document

    def from_document(self, firsts: Longs, documents: NDArray[np.integer]) -> Longs:
        """The first row of a variable's value that a document, or a later one, has; by where these rows begin."""
        return np.searchsorted(self._places, firsts << 32 | documents)

    def has(self, firsts: Longs, documents: Ints) -> Flags:
        """Whether these documents have a variable's value, whose rows begin there."""
        return contains(self._places, firsts << 32 | documents)

    def of_variables(self, firsts: Longs, variables: Ints) -> tuple[Longs, Longs]:
        """The rows of a variable among those of a value, by where these begin: they must be sorted, and there."""
        return spans(self._keys, firsts << 32 | variables)


class Postings:
    """All occurrences of the state, in runs that are sorted by value: older ones are longer, so there are few."""

    def __init__(self) -> None:
        self.runs: list[Occurrences] = []

    def __len__(self) -> int:
        return sum(run.value.size for run in self.runs)

    def add(self, batch: Occurrences) -> None:
        """Add occurrences that are sorted."""
        if not batch.value.size:
            return
        runs = [*self.runs, batch]
        while len(runs) > 1 and runs[-2].value.size < _GROWTH * runs[-1].value.size:
            last = runs.pop()
            runs[-1] = _merged(runs[-1], last)
        self.runs = runs

    def documents(self, value: int, variable: int, first: int = 0, end: int | None = None) -> Ints:
        """The documents, of those between two places, in which a variable has a value."""
        return np.concatenate([np.zeros(0, np.int32), *self.parts(value, variable, first, end)])

    def parts(self, value: int, variable: int, first: int = 0, end: int | None = None) -> list[Ints]:
        """The same in parts, each of them sorted; nothing is copied."""
        found = []
        for run in self.runs:
            begin, last = np.searchsorted(run.value, [value, value + 1]).tolist()
            if begin < last:
                here, there = (begin + np.searchsorted(run.variable[begin:last], [variable, variable + 1])).tolist()
                if here < there:
                    some = run.document[here:there]
                    if first or end is not None:
                        bounds = np.searchsorted(some, [first, _LAST if end is None else end]).tolist()
                        some = some[slice(*bounds)]
                    found.append(some)
        return found

    def compact(self, kept: Flags, places: Ints) -> None:
        """Keep the occurrences of these documents, which have new places."""
        whole = Occurrences(
            np.concatenate([np.zeros(0, np.int64), *(run.value for run in self.runs)]),
            np.concatenate([np.zeros(0, np.int32), *(run.document for run in self.runs)]),
            np.concatenate([np.zeros(0, np.int32), *(run.variable for run in self.runs)]),
        )
        some = whole.at(kept[whole.document])
        self.runs = []
        self.add(Occurrences(some.value, places[some.document], some.variable).sorted())


def _merged(one: Occurrences, other: Occurrences) -> Occurrences:
    """Two sorted runs as one; the documents of the other one came later."""
    value = np.concatenate([one.value, other.value])
    order = np.argsort(value, kind="stable")  # two runs: a merge
    whole = Occurrences(
        value[order],
        np.concatenate([one.document, other.document])[order],
        np.concatenate([one.variable, other.variable])[order],
    )
    return whole.at(np.argsort(_keys(whole), kind="stable"))  # and one of the few rows that each value has


def _keys(rows: Occurrences) -> Longs:
    """Where a row's value begins, and its variable, as one number."""
    at = np.arange(rows.value.size)
    if not at.size:
        return at
    is_new = np.append(True, rows.value[1:] != rows.value[:-1])
    return np.maximum.accumulate(np.where(is_new, at, 0)) << 32 | rows.variable
