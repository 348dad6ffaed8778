"""Arrow batches of documents in, documents read out, with the rows that cannot be; what headers tell is not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from weft.broker.answers import Matched, chunks
from weft.documents.document import Document, Limits
from weft.documents.document_column import Columns, DocumentColumn, arrow_column
from weft.documents.scan import DocumentPaths
from weft.documents.source import read_source
from weft.documents.table import NodeTable
from weft.engine.deliveries import Deliveries
from weft.errors import DocumentError, failure_of
from weft.headers.matcher import HeaderMatcher
from weft.inputs.rows import read_rows
from weft.spark.compiled import WorkerPlans

_UNPACKED = 64  # documents
_NAMED, _LONGEST = 8, 60  # key columns that name a document which has no id, and characters of each
ReadDocuments = TypeVar("ReadDocuments", NodeTable, NodeTable | DocumentPaths)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of the input mean what; `None` where there is no such column."""

    value: str
    keys: tuple[str, ...]  # passed through
    id: str | None
    stream: str | None
    error: str | None
    row_tag: str | None = None
    header: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the documents themselves tells what they are."""
        return self.stream is None and self.error is None and self.row_tag is None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that could not be read: its place in the batch, the reason, and the document if there is one."""

    row: int
    error: DocumentError
    source: bytes | str | None
    offset: int = 0  # of a row that is a part of a document
    subscription: int | None = None  # whose message was refused; None: the whole document

    @property
    def record(self) -> dict[str, object]:
        """The rejection as the struct of its column."""
        error = self.error
        return {"error": error.reason, "line": error.line, "column": error.column, "source": self.source}


def not_made(
    batch: pa.RecordBatch,
    read: NodeTable | DocumentPaths,
    answer: Deliveries | Matched,
    layout: Layout,
    plans: WorkerPlans,
) -> list[Rejection]:
    """Documents that could not be matched, and messages that were refused."""
    found = [(place, None, reason) for place, reason in answer.rejected]
    told = [(place, number, f"subscription {plans.ids[number]}: {reason}") for place, number, reason in answer.refused]
    rejections = []
    for place, number, reason in [*found, *told]:
        document = read.documents[place]
        error = named(DocumentError(document.id, 1, 1, 0, reason), batch, layout)
        source = document.data if number is None else None
        rejections.append(Rejection(row_of(document), error, source, offset_of(document), number))
    return rejections


class KnownByHeader:
    """What is known of documents from their headers, by row; with `unwanted_only` just that nobody wants them."""

    def __init__(self, headers: HeaderMatcher, limits: Limits, unwanted_only: bool = False) -> None:
        self._headers, self._limits = headers if headers.configurations else None, limits
        self._unwanted_only = unwanted_only
        self.found: dict[int, list[int]] = {}

    @property
    def is_nothing(self) -> bool:
        """Whether no document has a header that anybody can read."""
        return self._headers is None

    def is_unknown(self, document: Document) -> bool:
        """Whether a document must be read."""
        if self._headers is None or len(document.data) > self._limits.max_bytes:
            return True
        matches = self._headers.answer(document)
        if matches is None or (matches and self._unwanted_only):
            return True
        self.found[row_of(document)] = matches
        return False


def read_batches(
    batch: pa.RecordBatch,
    layout: Layout,
    limits: Limits,
    known: KnownByHeader,
    reader: Callable[[Iterable[Document], Limits], ReadDocuments],
) -> Iterator[tuple[ReadDocuments, list[Rejection]]]:
    """The documents of a batch, some at a time; a document's id is its row's number, then `@` and its offset."""
    unreadable: list[Rejection] = []
    documents: Iterable[Document] | Columns
    if layout.is_plain and known.is_nothing:
        documents = Columns((arrow_column(batch.column(layout.value), 0, ("", 0)),), len(batch))
    else:
        documents = filter(known.is_unknown, documents_in(batch, layout, limits, unreadable))
    for chunk in chunks(documents):
        for read, rejected in _read(chunk, limits, reader):
            bad = [
                Rejection(row_of(document), named(error, batch, layout), document.data, offset_of(document))
                for document, error in rejected
            ]
            yield read, unreadable + bad
            unreadable.clear()
    if unreadable:
        yield reader([], limits), unreadable


def _read(
    chunk: Sequence[Document], limits: Limits, reader: Callable[[Iterable[Document], Limits], ReadDocuments]
) -> Iterator[tuple[ReadDocuments, list[tuple[Document, DocumentError]]]]:
    """Documents read at once; if that fails one by one, so that whatever is raised rejects no more than one."""
    try:
        read = reader(chunk, limits)
    except Exception as error:
        if len(chunk) > 1:
            for document in chunk:
                yield from _read([document], limits, reader)
        else:
            yield reader([], limits), [(chunk[0], _failed(chunk[0], error))]
        return
    left = {document.id: document for document in (_left_out(chunk, read.documents) if read.rejected else ())}
    yield read, [(left[error.document], error) for error in read.rejected]


def _left_out(chunk: Sequence[Document], read: Sequence[Document]) -> list[Document]:
    """The documents of a chunk that could not be read."""
    if isinstance(chunk, DocumentColumn) and isinstance(read, DocumentColumn):
        return list(chunk.kept(np.isin(chunk.rows, read.rows, invert=True)))
    known = {id(document) for document in read}
    return [document for document in chunk if id(document) not in known]


def _failed(document: Document, error: Exception) -> DocumentError:
    return error.told() if isinstance(error, DocumentError) else DocumentError(document.id, 1, 1, 0, failure_of(error))


def documents_in(
    batch: pa.RecordBatch, layout: Layout, limits: Limits, unreadable: list[Rejection]
) -> Iterator[Document]:
    """The documents of a batch, each with its row's number as id; those that could not be had go to `unreadable`."""
    streams = batch.column(layout.stream).to_pylist() if layout.stream else None
    errors = batch.column(layout.error) if layout.error else None
    headers = batch.column(layout.header) if layout.header else None
    for row, data in enumerate(_values(batch.column(layout.value))):
        if errors is not None and errors[row].is_valid:
            found = errors[row].as_py()
            error = DocumentError(str(row), found["line"], found["column"], 0, found["reason"])
            unreadable.append(Rejection(row, named(error, batch, layout), data))
            continue
        if data is None:
            continue
        stream = (streams[row] or "") if streams is not None else ""
        if layout.row_tag is None:
            yield Document(data, str(row), stream, header=headers[row].as_py() if headers is not None else None)
            continue
        for part in _rows(Document(data, str(row)), layout.row_tag, limits):
            if isinstance(part, DocumentError):
                unreadable.append(Rejection(row, named(part, batch, layout), data, part.offset))
            else:
                offset, content = part
                yield Document(content, f"{row}@{offset}", stream)


def rows_of(documents: Sequence[Document]) -> list[int]:
    """The rows that documents came from."""
    if isinstance(documents, DocumentColumn):
        rows: list[int] = documents.rows.tolist()
        return rows
    return [row_of(document) for document in documents]


def offsets_of(documents: Sequence[Document]) -> list[int]:
    """Where documents start in those that they are parts of."""
    return [0] * len(documents) if isinstance(documents, DocumentColumn) else [offset_of(each) for each in documents]


def row_of(document: Document) -> int:
    """The number of the row that a document came from."""
    return int(document.id.partition("@")[0])


def offset_of(document: Document) -> int:
    """Where a document starts in the one that it is a part of."""
    return int(document.id.partition("@")[2] or 0)


def _rows(whole: Document, row_tag: str, limits: Limits) -> Iterator[tuple[int, bytes] | DocumentError]:
    try:
        yield from read_rows(whole.id, [read_source(whole).data], row_tag, limits)
    except Exception as error:  # whatever it is, it is this document's own
        yield _failed(whole, error)


def _values(column: pa.Array) -> Iterator[bytes | str | None]:
    """The values one by one, some of them unpacked at a time: a batch may be large."""
    for start in range(0, len(column), _UNPACKED):
        yield from column.slice(start, _UNPACKED).to_pylist()


def named(error: DocumentError, batch: pa.RecordBatch, layout: Layout) -> DocumentError:
    """The error with the document's id, if the frame has one, or its key columns, in place of its row's number."""
    row = int(error.document.partition("@")[0])
    keys = [f"{key}={_shown(batch.column(key)[row].as_py())}" for key in layout.keys[:_NAMED]]
    name = batch.column(layout.id)[row].as_py() if layout.id else ", ".join(keys) or f"row {row}"
    return DocumentError(str(name), error.line, error.column, error.offset, error.reason)


def _shown(value: object) -> str:
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
