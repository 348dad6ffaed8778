"""Documents that stand one behind another in a buffer: in come an Arrow column or a buffer with ends, documents out.

A document is made only where somebody asks for it: most are read by the kernel and nobody ever does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Longs
from weft.documents.document import Document, as_documents, next_number
from weft.documents.source import read_source


class ArrowArray(Protocol):
    """An array of Arrow, in one piece or in several: nothing here needs Arrow itself."""

    @property
    def type(self) -> Any: ...


Buffer = bytes | bytearray | memoryview
Batch = (
    Document
    | bytes
    | str
    | Iterable[Document | bytes | str]
    | ArrowArray
    | tuple[Buffer, Sequence[int] | NDArray[np.integer]]
)
_OFFSETS = {"binary": np.int32, "string": np.int32, "large_binary": np.int64, "large_string": np.int64}


class DocumentColumn(Sequence[Document]):
    """The rows of a column that have documents; `rows` are their places in it. A row without any is passed over."""

    __slots__ = ("_data", "_first", "_is_text", "_last", "_names", "rows")

    def __init__(
        self, data: memoryview, first: Longs, last: Longs, rows: Longs, is_text: bool, names: tuple[str, int]
    ) -> None:
        """A document is from `first` to before `last`; its id is a prefix, and the place of its row plus a number."""
        self._data, self._first, self._last, self.rows = data, first, last, rows
        self._is_text, self._names = is_text, names

    def __len__(self) -> int:
        return self.rows.size

    @overload
    def __getitem__(self, at: int) -> Document: ...
    @overload
    def __getitem__(self, at: slice) -> DocumentColumn: ...
    def __getitem__(self, at: int | slice) -> Document | DocumentColumn:
        if isinstance(at, slice):
            return self._some(at)
        prefix, number = self._names
        return Document(self._text(at) if self._is_text else self.bytes_of(at), f"{prefix}{number + self.rows[at]}")

    def kept(self, is_kept: Flags) -> DocumentColumn:
        """The documents that are marked."""
        return self._some(is_kept)

    def _some(self, which: slice | Flags) -> DocumentColumn:
        first, last, rows = self._first[which], self._last[which], self.rows[which]
        return DocumentColumn(self._data, first, last, rows, self._is_text, self._names)

    @property
    def sizes(self) -> Longs:
        """The bytes of each document."""
        return self._last - self._first

    @property
    def placed(self) -> tuple[memoryview, Longs, Longs]:
        """The buffer, and where in it each document begins and ends."""
        return self._data, self._first, self._last

    def bytes_of(self, at: int) -> bytes:
        """A document as it stands in the buffer."""
        return bytes(self._data[self._first[at] : self._last[at]])

    def _text(self, at: int) -> str | bytes:
        """A document as text; what is no UTF-8 stays as it is, and is rejected when it is read."""
        data = self.bytes_of(at)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def source_of(self, at: int) -> bytes:
        """A document as UTF-8; raises DocumentError where its encoding is unknown or broken."""
        return self.bytes_of(at) if self._is_text else read_source(self[at]).data

    def portions(self, most: int, heavy: int) -> Iterator[DocumentColumn]:
        """Columns of at most so many documents; one that has become heavy ends."""
        begin, before = 0, np.append(0, np.cumsum(self.sizes))
        while begin < len(self):
            full = int(np.searchsorted(before, before[begin] + heavy, "right"))
            end = min(begin + most, full, len(self))
            yield self[begin:end]
            begin = end


class ColumnSources(Sequence[bytes]):
    """The sources of a column's documents as they were scanned: as they stand there, but for those that are told."""

    __slots__ = ("_column", "_told")

    def __init__(self, column: DocumentColumn, told: dict[int, bytes]) -> None:
        self._column, self._told = column, told

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...
    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        found = self._told.get(at)
        if found is None:  # it is kept, as whoever asks for it asks again: for one fragment after the other
            found = self._told[at] = self._column.bytes_of(at)
        return found

    def __setitem__(self, at: int, source: bytes) -> None:
        self._told[at] = source

    def kept(self, is_kept: Flags) -> ColumnSources:
        """The sources that are marked."""
        places = np.cumsum(is_kept) - 1
        told = {int(places[at]): source for at, source in self._told.items() if is_kept[at]}
        return ColumnSources(self._column.kept(is_kept), told)

    @property
    def sizes(self) -> list[int]:
        """The bytes of each source."""
        sizes: list[int] = self._column.sizes.tolist()
        for at, source in self._told.items():
            sizes[at] = len(source)
        return sizes


def source_sizes(sources: Sequence[bytes]) -> list[int]:
    """The bytes of each source; none is made for that."""
    return sources.sizes if isinstance(sources, ColumnSources) else list(map(len, sources))


# -- what is given


def is_arrow(batch: object) -> bool:
    """Whether this is an array of Arrow, in one piece or in several."""
    return type(batch).__module__.partition(".")[0] == "pyarrow" and hasattr(batch, "type")


@dataclass(frozen=True, slots=True)
class Columns:
    """A batch that came as columns of documents, and how many rows these have, with those that have no document."""

    parts: tuple[DocumentColumn, ...]
    rows: int


def columns_of(batch: object) -> Columns | None:
    """An Arrow array of bytes or text, or a buffer with the ends of its documents; None for all else.

    Raises TypeError for an array of another type, and ValueError where ends do not fit the buffer.
    """
    if is_arrow(batch):
        pieces: list[Any] = getattr(batch, "chunks", [batch])
        rows, first_row = sum(map(len, pieces)), 0
        names, columns = ("document-", next_number(rows)), []
        for piece in pieces:
            columns.append(arrow_column(piece, first_row, names))
            first_row += len(piece)
        return Columns(tuple(columns), rows)
    if isinstance(batch, tuple) and len(batch) == 2 and not isinstance(batch[1], Document | bytes | str):
        column = _buffer_column(*batch)
        return Columns((column,), len(column))
    return None


def as_batch(batch: Batch) -> list[Document] | Columns:
    """A batch in any of its forms; of columns no document is made yet."""
    columns = columns_of(batch)
    return as_documents(cast("Document", batch)) if columns is None else columns


def listed(batch: Batch) -> list[Document]:
    """A batch in any of its forms as documents; rows without one are passed over."""
    found = as_batch(batch)
    return list(chain.from_iterable(found.parts)) if isinstance(found, Columns) else found


def arrow_column(array: Any, first_row: int, names: tuple[str, int]) -> DocumentColumn:
    """The documents of an Arrow array; its first row is this one of a column. A null is no document."""
    kind = str(array.type)
    if kind not in _OFFSETS:
        raise TypeError(f"documents are a column of {', '.join(_OFFSETS)}, found {kind}")
    _, offsets, data = array.buffers()
    ends = np.zeros(1, np.int64)
    if len(array):
        ends = np.frombuffer(offsets, _OFFSETS[kind])[array.offset : array.offset + len(array) + 1].astype(np.int64)
    held = memoryview(b"" if data is None else data).cast("B")
    _check_ends(ends, held)
    is_there: slice | Flags = slice(None)
    if array.null_count:
        is_there = array.is_valid().to_numpy(zero_copy_only=False)
    rows = np.arange(first_row, first_row + len(array))[is_there]
    return DocumentColumn(held, ends[:-1][is_there], ends[1:][is_there], rows, kind.endswith("string"), names)


def _buffer_column(buffer: Any, given: Any) -> DocumentColumn:
    data, last = memoryview(buffer).cast("B"), np.asarray(given)
    if last.ndim != 1 or (last.size and last.dtype.kind not in "iu"):
        raise TypeError("the ends of documents in a buffer are integers")
    ends = np.append(np.zeros(1, np.int64), last.astype(np.int64))
    _check_ends(ends, data)
    names = "document-", next_number(last.size)
    return DocumentColumn(data, ends[:-1], ends[1:], np.arange(last.size), False, names)


def _check_ends(ends: Longs, data: memoryview) -> None:
    if ends[0] < 0 or ends[-1] > len(data) or (ends[1:] < ends[:-1]).any():
        raise ValueError(f"the ends of documents ascend, from 0 to at most the {len(data)} bytes of the buffer")
