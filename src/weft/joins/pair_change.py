"""Documents that are kept to be joined with others in, bytes out, and back: what a step changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Flags, Longs
from weft.joins.journal import Live

_OF_DOCUMENTS = ("number", "nanoseconds", "came", "size")
_OF_VALUES = ("definition", "key")
_COLUMNS = (*_OF_DOCUMENTS, *_OF_VALUES)


@dataclass(frozen=True, slots=True)
class PairChange:
    """How far time has come, and documents as columns, with those of their values behind one another."""

    watermark: int
    next: int  # the number of the next document
    number: Longs
    nanoseconds: Longs
    came: Longs  # at which step
    size: Longs  # how many values it has
    definition: Longs  # of the variable that has the value
    key: Longs

    @classmethod
    def nothing(cls, watermark: int, next: int) -> PairChange:
        """No documents."""
        return cls(watermark, next, *(np.zeros(0, np.int64) for _ in _COLUMNS))

    @property
    def mentioned(self) -> set[int]:
        """The documents' numbers."""
        return set(self.number.tolist())

    @property
    def last(self) -> int:
        """Nothing is counted."""
        return -1

    def only(self, live: Live) -> PairChange:
        """Those that are needed."""
        return self.alive(np.array([each in live.documents for each in self.number.tolist()], bool))

    def since(self, number: int) -> PairChange:
        """Those from a number on, each once, in order."""
        _, first = np.unique(self.number, return_index=True)
        kept = np.zeros(self.number.size, bool)
        kept[first] = True
        found = self.alive(kept & (self.number >= number))
        return found if not found.number.size or bool((np.diff(found.number) > 0).all()) else found._in_order()

    def alive(self, kept: Flags) -> PairChange:
        """Some of the documents."""
        return self._at(np.flatnonzero(kept))

    def _in_order(self) -> PairChange:
        return self._at(np.argsort(self.number, kind="stable"))

    def _at(self, rows: Longs) -> PairChange:
        starts = np.cumsum(self.size) - self.size
        sizes = self.size[rows]
        values = np.repeat(starts[rows] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        columns = [getattr(self, name)[rows] for name in _OF_DOCUMENTS]
        return PairChange(self.watermark, self.next, *columns, *(getattr(self, name)[values] for name in _OF_VALUES))

    def with_older(self, older: Sequence[PairChange]) -> PairChange:
        """The same, that also has the documents of others."""
        parts = [*older, self]
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS)
        return PairChange(self.watermark, self.next, *columns)

    def write(self) -> bytes:
        """A line of JSON, and then the columns."""
        sizes = [getattr(self, name).size for name in _COLUMNS]
        header = json.dumps({"watermark": self.watermark, "next": self.next, "sizes": sizes}).encode()
        columns = (np.asarray(getattr(self, name), "<i8").tobytes() for name in _COLUMNS)
        return b"".join([header, b"\n", *columns])

    @classmethod
    def read(cls, data: bytes) -> PairChange:
        """The change that was written; raises ValueError for what is not one."""
        head, _, rest = data.partition(b"\n")
        try:
            header = json.loads(head)
            sizes = [int(size) for size in header["sizes"]]
            watermark, next = int(header["watermark"]), int(header["next"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected a change of joins: {error!r}") from None
        if len(sizes) != len(_COLUMNS) or 8 * sum(sizes) != len(rest):
            raise ValueError(f"expected {8 * sum(sizes)} bytes of columns, found {len(rest)}")
        values = np.frombuffer(rest, "<i8").astype(np.int64)
        return cls(watermark, next, *np.split(values, np.cumsum(sizes)[:-1]))
