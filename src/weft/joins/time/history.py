"""Documents as they are joined in, how many of a stream lie between two of them out: what windows count."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Longs

_Counted = tuple["array[int]", "array[int]"]
#: All documents, whatever stream they name.
_ALL = None


class History:
    """The sequence numbers and timestamps of each stream's documents, as far as anybody counts back.

    A document that names no stream is in every one; a stream without a name is that of all documents.
    """

    def __init__(self) -> None:
        self.sequence = 0  # of the next document
        self._columns: dict[str | None, _Counted] = {_ALL: (array("q"), array("q"))}
        self._forgotten: dict[str | None, int] = {}  # how many documents of a stream are no longer in its columns

    def number(self, stream: str, timestamp: int) -> int:
        """The next document's sequence number; it is counted in its stream."""
        sequence = self.sequence
        self.sequence += 1
        for name in (_ALL, stream):
            sequences, timestamps = self._columns.setdefault(name, (array("q"), array("q")))
            sequences.append(sequence)
            timestamps.append(timestamp)
        return sequence

    def cut(self, sequence: int) -> None:
        """The documents from a sequence number on have not come."""
        self.sequence = sequence
        for sequences, timestamps in self._columns.values():
            first = bisect_left(sequences, sequence)
            del sequences[first:], timestamps[first:]

    def columns(self) -> dict[str, tuple[list[int], list[int]]]:
        """The sequence numbers and timestamps by stream."""
        return {
            name: (sequences.tolist(), timestamps.tolist())
            for name, (sequences, timestamps) in self._columns.items()
            if name is not _ALL
        }

    def restore(self, sequence: int, columns: Mapping[str, tuple[list[int], list[int]]]) -> None:
        """Go on counting where another one was."""
        self.sequence = sequence
        self._forgotten = {}
        self._columns = {name: (array("q", numbers), array("q", times)) for name, (numbers, times) in columns.items()}
        every = sorted(pair for each in columns.values() for pair in zip(*each, strict=True))
        self._columns[_ALL] = array("q", [one for one, _ in every]), array("q", [one for _, one in every])

    def since(self, sequence: int) -> dict[str, tuple[list[int], list[int]]]:
        """The columns from a sequence number on."""
        found = {}
        for name, (sequences, timestamps) in self._columns.items():
            first = bisect_left(sequences, sequence)
            if name is not _ALL and first < len(sequences):
                found[name] = sequences[first:].tolist(), timestamps[first:].tolist()
        return found

    def extend(self, sequence: int, columns: Mapping[str, tuple[list[int], list[int]]]) -> None:
        """Documents that were counted elsewhere, all of them behind those that are."""
        self.sequence = sequence
        every = sorted(pair for each in columns.values() for pair in zip(*each, strict=True))
        both = [one for one, _ in every], [one for _, one in every]
        for name, added in ((_ALL, both), *columns.items()):
            for column, more in zip(self._columns.setdefault(name, (array("q"), array("q"))), added, strict=True):
                column.extend(more)

    def _of(self, stream: str) -> list[_Counted]:
        names = (stream, "") if stream else (_ALL,)
        return [self._columns[name] for name in names if name in self._columns]

    # -- how many

    def between(self, stream: str, earlier: Longs | int, later: Longs | int) -> Longs:
        """How many documents of a stream lie strictly between two sequence numbers."""
        if not stream:
            return np.asarray(later - earlier - 1)
        return self._before(stream, np.asarray(later)) - self._before(stream, np.asarray(earlier) + 1)

    def _before(self, stream: str, sequence: NDArray[np.int64]) -> Longs:
        counted = np.zeros(sequence.shape, np.int64)
        for sequences, _ in self._of(stream):
            counted = counted + np.searchsorted(np.frombuffer(sequences, np.int64), sequence)
        return counted

    def first_near(self, stream: str, later: Longs, number: Longs) -> Longs:
        """The lowest sequence numbers with fewer than so many documents of a stream up to later ones, or lower ones."""
        if not stream:
            return later - number
        found = np.zeros(later.size, np.int64)
        for sequences, _ in self._of(stream):
            column = np.frombuffer(sequences, np.int64)
            at = np.searchsorted(column, later) - number
            if column.size:
                found = np.maximum(found, np.where(at >= 0, column[np.maximum(at, 0)], 0))
        return found

    def after(self, timestamp: int) -> int:
        """How many documents have a later timestamp."""
        timestamps = self._columns[_ALL][1]
        return len(timestamps) - bisect_right(timestamps, timestamp)

    def count(self, stream: str, sequence: int | None = None) -> int:
        """How many documents of a stream there have been, up to this one: good for comparing with later counts."""
        names = (stream, "") if stream else (_ALL,)
        forgotten = sum(self._forgotten.get(name, 0) for name in names)
        if sequence is None:
            return forgotten + sum(len(sequences) for sequences, _ in self._of(stream))
        return forgotten + sum(bisect_right(sequences, sequence) for sequences, _ in self._of(stream))

    # -- which one

    def behind(self, stream: str, sequence: int, number: int) -> tuple[int, int] | None:
        """Sequence number and timestamp of the n-th document of a stream behind one; None if it has not come."""
        return self._nth(stream, 0, sequence, number)

    def later(self, stream: str, timestamp: int, number: int) -> tuple[int, int] | None:
        """The same of the n-th document with a later timestamp."""
        return self._nth(stream, 1, timestamp, number)

    def _nth(self, stream: str, column: int, value: int, number: int) -> tuple[int, int] | None:
        columns = self._of(stream)
        wanted = sum(bisect_right(each[column], value) for each in columns) + number
        if wanted > sum(len(sequences) for sequences, _ in columns):
            return None
        if len(columns) == 1:
            return columns[0][0][wanted - 1], columns[0][1][wanted - 1]

        def up_to(sequence: int) -> int:
            return sum(bisect_right(sequences, sequence) for sequences, _ in columns)

        found = bisect_left(range(self.sequence), wanted, key=up_to)
        sequences, timestamps = next(
            each for each in columns if found in each[0][(at := bisect_left(each[0], found)) : at + 1]
        )
        return found, timestamps[bisect_left(sequences, found)]

    # -- what nobody counts any more

    def trim(self, oldest: int, counted: Collection[str]) -> None:
        """Forget the documents before a sequence number; streams that are still counted go on from where they are."""
        for name, (sequences, timestamps) in list(self._columns.items()):
            first = bisect_left(sequences, oldest)
            if first > len(sequences) // 2:
                self._columns[name] = sequences[first:], timestamps[first:]
                self._forgotten[name] = self._forgotten.get(name, 0) + first
            if name and not self._columns[name][0]:
                del self._columns[name]
        self._forgotten = {
            name: number
            for name, number in self._forgotten.items()
            if not name or name in self._columns or name in counted
        }
