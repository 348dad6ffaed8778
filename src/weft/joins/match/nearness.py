"""Documents and windows in, which earlier documents are near enough out: by columns, in time and by counts."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.joins.compile.queries import Queries
from weft.joins.compile.reach import ANY_LENGTH, TIME, PredicateReach
from weft.joins.match.state import State


class Nearness:
    """How far apart documents of the state are, by all that windows measure."""

    def __init__(self, queries: Queries, state: State) -> None:
        self._queries, self._state = queries, state

    def distance(self, measure: int, earlier: Ints, later: Ints) -> Longs:
        """How far apart documents are, by their places: in nanoseconds, or one more than lie between in a stream."""
        if measure == TIME:
            timestamps = self._state.timestamps
            return timestamps[later] - timestamps[earlier]
        sequences = self._state.sequences
        stream = self._queries.measured[measure]
        return self._state.history.between(stream, sequences[earlier], sequences[later]) + 1

    def is_near(self, earlier: Ints, later: Ints, opening: Ints) -> Flags:
        """Whether documents are within the windows of openings, and in order, as far as these two tell."""
        windows, (strict, _) = self._queries.windows, self._queries.columns()
        apart = self.distance(TIME, earlier, later)
        near: Flags = (apart > 0) | ~strict[opening]
        measure, length = windows.measure[opening], windows.length[opening]
        near &= (apart <= length) | (measure != TIME)
        if measure.any():
            for each in np.unique(measure).tolist():
                if each != TIME:
                    rows = np.flatnonzero(measure == each)
                    near[rows] &= self.distance(each, earlier[rows], later[rows]) <= length[rows]
        return near

    def first_places(self, reach: PredicateReach, later: Ints, predicate: Longs) -> Longs:
        """The earliest place that some window of a predicate reaches from a later document, or an earlier one."""
        timestamps, sequences = self._state.timestamps, self._state.sequences
        length = reach.time[predicate]
        bounded = (length >= 0) & (length < ANY_LENGTH)
        since = timestamps[later] - np.where(bounded, length, 0)
        places = np.searchsorted(timestamps, since)
        places = np.where(bounded, places, np.where(length < 0, timestamps.size, 0))
        stream = reach.stream[predicate]
        if stream.any():
            for each in np.unique(stream).tolist():
                if each == TIME:
                    continue
                rows = np.flatnonzero(stream == each)
                number = reach.documents[predicate[rows]]
                first = self._state.history.first_near(self._queries.measured[each], sequences[later[rows]], number)
                places[rows] = np.minimum(places[rows], np.searchsorted(sequences, first))
        return places.astype(np.int64)
