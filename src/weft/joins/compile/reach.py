"""The windows of the openings that need each predicate in, how far any of them reaches out."""

from __future__ import annotations

from collections import Counter

import numpy as np

from weft.columns.integers import Ints, Longs

#: The measure of windows in time; others count the documents of a stream, whose number it is.
TIME = 0
#: A window that all documents are within, in nanoseconds.
ANY_LENGTH = int(np.iinfo(np.int64).max)
_NOWHERE = -1

#: What a window is measured in, and its length.
WindowMeasure = tuple[int, int]


class PredicateReach:
    """By predicate the longest window in time, and the longest in documents with the stream that it counts.

    Most predicates have one window, whoever needs them: only for others are all of them counted.
    """

    def __init__(self) -> None:
        self._windows: dict[int, Counter[WindowMeasure]] = {}  # of predicates whose openings have had several
        self._users: Ints = np.zeros(64, np.int32)  # how many openings need a predicate with one window
        self.time: Longs = np.full(64, _NOWHERE, np.int64)
        self.stream: Ints = np.zeros(64, np.int32)  # by its number; TIME where there is no window in documents
        self.documents: Longs = np.zeros(64, np.int64)

    def add(self, predicate: int, window: WindowMeasure) -> None:
        """An opening with this window needs the predicate."""
        while predicate >= self.time.size:
            for name, filler in (("_users", 0), ("time", _NOWHERE), ("stream", TIME), ("documents", 0)):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.full_like(column, filler)]))
        windows = self._windows.get(predicate)
        if windows is None and self._users[predicate] and (only := self._only(predicate)) != window:
            windows = self._windows[predicate] = Counter({only: int(self._users[predicate])})
        if windows is not None:
            windows[window] += 1
            self._widen(predicate, window)
            return
        self._users[predicate] += 1
        if self._users[predicate] == 1:
            self._widen(predicate, window)

    def remove(self, predicate: int, window: WindowMeasure) -> None:
        """One fewer needs it."""
        windows = self._windows.get(predicate)
        if windows is None:
            self._users[predicate] -= 1
            if self._users[predicate]:
                return
        else:
            windows[window] -= 1
            if windows[window]:
                return
            del windows[window]
        self.time[predicate], self.stream[predicate], self.documents[predicate] = _NOWHERE, TIME, 0
        for each in windows or ():
            self._widen(predicate, each)
        if windows is not None and not windows:
            del self._windows[predicate]
            self._users[predicate] = 0

    def _only(self, predicate: int) -> WindowMeasure:
        """The one window that a predicate has."""
        measure = int(self.stream[predicate])
        return measure, int(self.time[predicate] if measure == TIME else self.documents[predicate])

    def _widen(self, predicate: int, window: WindowMeasure) -> None:
        measure, length = window
        if measure == TIME:
            self.time[predicate] = max(int(self.time[predicate]), length)
        elif self.stream[predicate] in (TIME, measure):
            self.stream[predicate] = measure
            self.documents[predicate] = max(int(self.documents[predicate]), length)
        else:
            self.time[predicate] = ANY_LENGTH  # two streams that are counted: anything may be near enough
