"""Values in, the documents that have them out: postings as sorted columns that merge as they grow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs, expand, spans

_GROWTH = 4  # a run joins the one before it when that is not so many times as long


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Values in documents, as columns: the value, the document's place in the state, and the variable that has it."""

    value: Longs
    document: Ints
    variable: Ints

    def sorted(self) -> Occurrences:
        """The same by value, each once."""
        order = np.lexsort((self.variable, self.document, self.value))
        return self.at(order)

    def at(self, places: NDArray[np.integer] | Flags) -> Occurrences:
        """Some of them."""
        return Occurrences(self.value[places], self.document[places], self.variable[places])


class Postings:
    """All occurrences of the state, in runs that are sorted by value: older ones are longer, so there are few."""

    def __init__(self) -> None:
        self._runs: list[Occurrences] = []

    def __len__(self) -> int:
        return sum(run.value.size for run in self._runs)

    def add(self, batch: Occurrences) -> None:
        """Add occurrences that are sorted by value."""
        if not batch.value.size:
            return
        self._runs.append(batch)
        while len(self._runs) > 1 and self._runs[-2].value.size < _GROWTH * self._runs[-1].value.size:
            last = self._runs.pop()
            self._runs[-1] = _merged(self._runs[-1], last)

    def meet(self, batch: Occurrences) -> tuple[Longs, Ints, Ints]:
        """All meetings: place in the batch, and document and variable of the occurrence with the same value."""
        return meet(self._runs, batch)

    def documents(self, value: int, variable: int) -> Ints:
        """The documents in which a variable has a value."""
        found = []
        for run in self._runs:
            start, end = np.searchsorted(run.value, [value, value + 1])
            found.append(run.document[start:end][run.variable[start:end] == variable])
        return np.concatenate([np.zeros(0, np.int32), *found])

    def compact(self, kept: Flags, places: Ints) -> None:
        """Keep the occurrences of these documents, which have new places."""
        whole = Occurrences(
            np.concatenate([np.zeros(0, np.int64), *(run.value for run in self._runs)]),
            np.concatenate([np.zeros(0, np.int32), *(run.document for run in self._runs)]),
            np.concatenate([np.zeros(0, np.int32), *(run.variable for run in self._runs)]),
        )
        some = whole.at(kept[whole.document])
        self._runs = []
        self.add(Occurrences(some.value, places[some.document], some.variable).sorted())


def meet(runs: list[Occurrences], batch: Occurrences) -> tuple[Longs, Ints, Ints]:
    """Each occurrence of the batch with all of the runs that have its value."""
    places, documents, variables = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for run in runs:
        starts, ends = spans(run.value, batch.value)
        which, inside = expand(starts, ends)
        places.append(which)
        documents.append(run.document[inside])
        variables.append(run.variable[inside])
    return np.concatenate(places), np.concatenate(documents), np.concatenate(variables)


def _merged(one: Occurrences, other: Occurrences) -> Occurrences:
    value = np.concatenate([one.value, other.value])
    order = np.argsort(value, kind="stable")  # two runs: a merge
    return Occurrences(
        value[order],
        np.concatenate([one.document, other.document])[order],
        np.concatenate([one.variable, other.variable])[order],
    )
