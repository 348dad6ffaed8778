"""Arrow batches of documents in, Arrow batches of messages or matches out: what runs inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from weft.broker.answers import Matched, chunks, deliver
from weft.broker.answers import match as match_table
from weft.broker.deliveries import Deliveries
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.source import read_source
from weft.documents.table import NodeTable
from weft.errors import DocumentError, failure_of
from weft.inputs.rows import read_rows
from weft.spark.compiled import Compiled, WorkerPlans, unpack

_ROWS = 10_000  # rows of an output batch, at most
_UNPACKED = 64  # documents
_CHARACTERS = 16 * 1024 * 1024  # and about so much text, unless one message is larger


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of the input mean what; `None` where there is no such column."""

    value: str
    keys: tuple[str, ...]  # passed through
    id: str | None
    stream: str | None
    error: str | None
    row_tag: str | None = None


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


@dataclass(frozen=True, slots=True)
class DeliverWorker:
    """The function for `mapInArrow` that makes messages of documents."""

    compiled: Compiled
    layout: Layout
    added: pa.Schema
    rejected: str | None  # the column for rejected documents; None drops them
    fail_fast: bool = False
    only_rejected: bool = False  # documents are read only: what cannot be read is known then

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The messages of each document, and a row for each document or message that came to nothing."""
        plans = unpack(self.compiled)
        for batch in batches:
            for table, unread in _tables(batch, self.layout, plans.limits):
                made = None if self.only_rejected else deliver(plans.engine, table)
                bad = unread + (_not_made(batch, table, made, self.layout, plans) if made else [])
                if self.fail_fast and bad:
                    raise bad[0].error
                if self.rejected is not None and bad:
                    yield self._rejections(batch, bad, plans)
                if made and made.text:
                    yield from self._messages(batch, table, made, plans)

    def _messages(
        self, batch: pa.RecordBatch, table: NodeTable, rows: Deliveries, plans: WorkerPlans
    ) -> Iterator[pa.RecordBatch]:
        position = rows.position
        place = np.array([_row(document) for document in table.documents])[rows.document]
        offset = np.array([_offset(document) for document in table.documents])[rows.document]
        for start, end in _cuts(rows.text):
            cut = slice(start, end)
            made = {
                "subscription": plans.ids.take(pa.array(rows.subscription[cut])),
                "destination": plans.destinations.take(pa.array(rows.subscription[cut])),
                "message": pa.array(rows.text[cut], pa.string()),
                "position": pa.array(position[cut], pa.int32()),
                "row": pa.array(offset[cut], pa.int64()),
                "version": pa.repeat(pa.scalar(self.compiled.version, pa.int32()), end - start),
            }
            yield self._batch(batch, place[cut], made)

    def _rejections(self, batch: pa.RecordBatch, bad: list[Rejection], plans: WorkerPlans) -> pa.RecordBatch:
        assert self.rejected is not None
        made = {
            "subscription": plans.ids.take(pa.array([each.subscription for each in bad], pa.int64())),
            self.rejected: pa.array([each.record for each in bad], self.added.field(self.rejected).type),
            "row": pa.array([each.offset for each in bad], pa.int64()),
        }
        return self._batch(batch, np.array([each.row for each in bad]), made)

    def _batch(self, batch: pa.RecordBatch, place: Any, made: dict[str, pa.Array]) -> pa.RecordBatch:
        """The columns passed through, those made, and nothing in the others."""
        at = pa.array(place)
        passed = [batch.column(key).take(at) for key in self.layout.keys]
        added = [made[each.name] if each.name in made else pa.nulls(len(at), each.type) for each in self.added]
        return pa.RecordBatch.from_arrays([*passed, *added], names=[*self.layout.keys, *self.added.names])


@dataclass(frozen=True, slots=True)
class MatchWorker:
    """The function for `mapInArrow` that adds the ids of the subscriptions that match each document."""

    compiled: Compiled
    layout: Layout
    added: pa.Schema
    matches: str
    rejected: str | None
    fail_fast: bool = False
    drop: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each input batch with its new column; a rejected document has no list at all."""
        plans = unpack(self.compiled)
        for batch in batches:
            numbers: list[Any] = [None] * len(batch)
            records: list[dict[str, object] | None] = [None] * len(batch)
            for table, unread in _tables(batch, self.layout, plans.limits):
                found = match_table(plans.engine, table)
                bad = unread + _not_made(batch, table, found, self.layout, plans)
                if self.fail_fast and bad:
                    raise bad[0].error
                for rejection in bad:
                    records[rejection.row] = rejection.record
                unmatched = {place for place, _ in found.rejected}
                for place, (document, matches) in enumerate(zip(table.documents, found.subscriptions, strict=True)):
                    numbers[_row(document)] = None if place in unmatched else matches
            yield self._batch(batch, plans, numbers, records)

    def _batch(
        self, batch: pa.RecordBatch, plans: WorkerPlans, numbers: list[Any], records: list[dict[str, object] | None]
    ) -> pa.RecordBatch:
        lengths = np.array([0 if found is None else len(found) for found in numbers])
        offsets = pa.array(np.append(0, np.cumsum(lengths)), pa.int32())
        all_found = np.concatenate([np.zeros(0, np.int32), *(found for found in numbers if found is not None)])
        missing = pa.array([found is None for found in numbers], pa.bool_())
        made = {
            self.matches: pa.ListArray.from_arrays(offsets, plans.ids.take(pa.array(all_found)), mask=missing),
        }
        if self.rejected is not None:
            made[self.rejected] = pa.array(records, self.added.field(self.rejected).type)
        columns = [*batch.columns, *(made[name] for name in self.added.names)]
        whole = pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *self.added.names])
        return whole.filter(pa.array([record is None for record in records])) if self.drop else whole


def _not_made(
    batch: pa.RecordBatch, table: NodeTable, answer: Deliveries | Matched, layout: Layout, plans: WorkerPlans
) -> list[Rejection]:
    """Documents that could not be matched, and messages that were refused."""
    found = [(place, None, reason) for place, reason in answer.rejected]
    told = [(place, number, f"subscription {plans.ids[number]}: {reason}") for place, number, reason in answer.refused]
    rejections = []
    for place, number, reason in [*found, *told]:
        document = table.documents[place]
        error = _named(DocumentError(document.id, 1, 1, 0, reason), batch, layout)
        source = document.data if number is None else None
        rejections.append(Rejection(_row(document), error, source, _offset(document), number))
    return rejections


def _tables(batch: pa.RecordBatch, layout: Layout, limits: Limits) -> Iterator[tuple[NodeTable, list[Rejection]]]:
    """The documents of a batch, some at a time; a document's id is its row's number, then `@` and its offset."""
    unreadable: list[Rejection] = []
    for chunk in chunks(_documents(batch, layout, limits, unreadable)):
        for table, rejected in _read(chunk, limits):
            bad = [
                Rejection(_row(document), _named(error, batch, layout), document.data, _offset(document))
                for document, error in rejected
            ]
            yield table, unreadable + bad
            unreadable.clear()
    if unreadable:
        yield read([], limits), unreadable


def _read(chunk: list[Document], limits: Limits) -> Iterator[tuple[NodeTable, list[tuple[Document, DocumentError]]]]:
    """Documents as one table; if that fails as one for each, so that whatever is raised rejects no more than one."""
    try:
        table = read(chunk, limits)
    except Exception as error:
        if len(chunk) > 1:
            for document in chunk:
                yield from _read([document], limits)
        else:
            yield read([], limits), [(chunk[0], _failed(chunk[0], error))]
        return
    sources = {id(document): document for document in chunk}
    for document in table.documents:
        del sources[id(document)]
    yield table, list(zip(sources.values(), table.rejected, strict=True))


def _failed(document: Document, error: Exception) -> DocumentError:
    return error.told() if isinstance(error, DocumentError) else DocumentError(document.id, 1, 1, 0, failure_of(error))


def _documents(
    batch: pa.RecordBatch, layout: Layout, limits: Limits, unreadable: list[Rejection]
) -> Iterator[Document]:
    streams = batch.column(layout.stream).to_pylist() if layout.stream else None
    errors = batch.column(layout.error) if layout.error else None
    for row, data in enumerate(_values(batch.column(layout.value))):
        if data is None:
            if errors is not None and errors[row].is_valid:
                found = errors[row].as_py()
                error = DocumentError(str(row), found["line"], found["column"], 0, found["reason"])
                unreadable.append(Rejection(row, _named(error, batch, layout), None))
            continue
        stream = (streams[row] or "") if streams is not None else ""
        if layout.row_tag is None:
            yield Document(data, str(row), stream)
            continue
        for part in _rows(Document(data, str(row)), layout.row_tag, limits):
            if isinstance(part, DocumentError):
                unreadable.append(Rejection(row, _named(part, batch, layout), data, part.offset))
            else:
                offset, content = part
                yield Document(content, f"{row}@{offset}", stream)


def _row(document: Document) -> int:
    """The number of the row that a document came from."""
    return int(document.id.partition("@")[0])


def _offset(document: Document) -> int:
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


def _named(error: DocumentError, batch: pa.RecordBatch, layout: Layout) -> DocumentError:
    """The error with the document's id, if the frame has one, in place of its row's number."""
    row = int(error.document.partition("@")[0])
    name = batch.column(layout.id)[row].as_py() if layout.id else f"row {row}"
    return DocumentError(str(name), error.line, error.column, error.offset, error.reason)


def _cuts(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that are not too large for one batch."""
    start = size = 0
    for at, text in enumerate(texts):
        if at > start and (at - start == _ROWS or size + len(text) > _CHARACTERS):
            yield start, at
            start, size = at, 0
        size += len(text)
    yield start, len(texts)
