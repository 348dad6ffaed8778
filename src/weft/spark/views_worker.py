"""Arrow batches of documents in, nodes of queries and parts of views out; rows of views in, those of a query out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.broker.answers import chunks
from weft.columns.integers import Longs
from weft.documents.document import Document, Limits
from weft.errors import ConfigurationError, DocumentError, failure_of
from weft.plans.plan import Selection
from weft.spark.views_sums import PartSums, join_sums, sums_of
from weft.spark.worker_documents import Layout, Rejection, documents_in, named, row_of
from weft.views.answering.apply import compensate
from weft.views.answering.rewriting import Compensation
from weft.views.nodes import SCHEMA, select
from weft.views.parts import PART_SCHEMA, Classes, classify, part_id
from weft.views.sizes import bytes_per_byte
from weft.views.sources.source import size_of
from weft.views.store.extraction import extract

#: The part that is none: its rows tell in the column `value` what a task has counted.
SUMS = "sums"
#: What a nested row is joined with: the length and the fragment of the topmost node around it.
AROUND = ("around_length", "around_fragment")
_SAMPLE_ROWS, _SAMPLE_BYTES = 5_000, 8 << 20  # of a task, to see how well they compress


def nullable(schema: pa.Schema) -> pa.Schema:
    """The schema as Spark has it: any column may have nulls."""
    return pa.schema([field.with_nullable(True) for field in schema])


@dataclass(frozen=True, slots=True)
class NodeReader:
    """Selects nodes in the documents of a batch, some of them at a time."""

    source: str
    selections: tuple[Selection, ...]
    layout: Layout
    limits: Limits
    is_fail_fast: bool

    def read(self, batch: pa.RecordBatch) -> Iterator[tuple[list[Document], list[pa.Table], list[Rejection]]]:
        """The documents, whose ids are their rows' numbers, the rows of each selection, and what cannot be read."""
        unreadable: list[Rejection] = []
        for chunk in chunks(documents_in(batch, self.layout, self.limits, unreadable)):
            rows, errors = self._select(chunk)
            by_id = {document.id: document for document in chunk}
            for error in errors:
                document = by_id.pop(error.document)
                unreadable.append(Rejection(row_of(document), named(error, batch, self.layout), document.data))
            yield list(by_id.values()), rows, self._checked(unreadable)
            unreadable = []
        if unreadable:
            yield [], [SCHEMA.empty_table()] * len(self.selections), self._checked(unreadable)

    def _select(self, chunk: Sequence[Document]) -> tuple[list[pa.Table], list[DocumentError]]:
        """All documents at once; if that fails one by one, so that whatever is raised rejects no more than one."""
        try:
            found = select(self.source, chunk, self.selections, self.limits)
        except Exception as error:
            if len(chunk) == 1:
                empty = [SCHEMA.empty_table()] * len(self.selections)
                return empty, [DocumentError(chunk[0].id, 1, 1, 0, failure_of(error))]
            each = [self._select([document]) for document in chunk]
            tables = [pa.concat_tables(those) for those in zip(*(rows for rows, _ in each), strict=True)]
            return tables, [error for _, errors in each for error in errors]
        return list(found.rows), list(found.rejected)

    def _checked(self, unreadable: list[Rejection]) -> list[Rejection]:
        if unreadable and self.is_fail_fast:
            raise unreadable[0].error
        return unreadable


def with_ids(rows: pa.Table, batch: pa.RecordBatch, id: str) -> pa.Table:
    """Rows whose documents are numbers of rows, with their ids instead."""
    at = rows.schema.get_field_index("document")
    ids = batch.column(id).take(pc.cast(rows["document"].combine_chunks(), pa.int64()))
    if ids.null_count:
        raise ConfigurationError("expected an id for each document, found null")
    return rows.set_column(at, rows.schema.field(at), ids.cast(pa.string()))


@dataclass(frozen=True, slots=True)
class SelectWorker:
    """The function for `mapInArrow` that gives the nodes of queries, which have names."""

    reader: NodeReader
    names: tuple[str, ...]
    made: pa.Schema
    rejected: str | None  # the column for documents that cannot be read; None: these are left out

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The nodes of each query, and a row for each document that cannot be read."""
        id = str(self.reader.layout.id)
        for batch in batches:
            for _, tables, bad in self.reader.read(batch):
                query = pa.array(self.names).take(np.repeat(np.arange(len(tables)), [len(rows) for rows in tables]))
                yield from _batches(with_ids(pa.concat_tables(tables), batch, id), self.made, {"query": query})
                if bad and self.rejected is not None:
                    yield self._rejections(batch, bad, id)

    def _rejections(self, batch: pa.RecordBatch, bad: Sequence[Rejection], id: str) -> pa.RecordBatch:
        known = {
            "document": batch.column(id).take(pa.array([each.row for each in bad])),
            self.rejected: pa.array([each.record for each in bad], self.made.field(self.rejected).type),
        }
        columns = [known.get(field.name, pa.nulls(len(bad), field.type)) for field in self.made]
        return pa.RecordBatch.from_arrays(columns, schema=self.made)


@dataclass(frozen=True, slots=True)
class PartsWorker:
    """The function for `mapInArrow` that gives the wanted parts of views, and behind them what was counted of all.

    Nodes are in classes by the document, so that what tasks count adds up, and parts are what tasks have of them.
    """

    reader: NodeReader
    names: tuple[str, ...]
    wanted: frozenset[str] | None  # parts by id; None: all
    is_measured: bool = False  # whether it is told how well rows compress

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of parts, and as the last one the sums."""
        id, source = str(self.reader.layout.id), self.reader.source
        sums, sample = PartSums(), _Sample()
        for batch in batches:
            for documents, tables, bad in self.reader.read(batch):
                answers = dict(zip(self.names, tables, strict=True))
                classes = classify(source, answers, [document.id for document in documents])
                reasons = [str(each.error) for each in bad]
                sums = join_sums([sums, sums_of(classes, len(documents), reasons)])
                if self.is_measured:
                    sample.add(with_ids(rows, batch, id) for rows in tables)
                places, part = self._places(classes)
                yield from _batches(with_ids(classes.rows(places), batch, id), parts_schema(), {"part": part})
        yield _told(sample.measured(sums))

    def _places(self, classes: Classes) -> tuple[Longs, pa.Array]:
        """Which nodes are in wanted parts, and for each of them in which."""
        ids = [part_id(classes.source, signature) for signature in classes.signatures]
        is_wanted = np.array([self.wanted is None or id in self.wanted for id in ids], bool)
        home = classes.number[classes.around]
        places = np.flatnonzero(is_wanted[home])
        return places, pa.array(ids, pa.string()).take(pa.array(home[places]))


def parts_schema() -> pa.Schema:
    """What `PartsWorker` gives: a part's rows, and which part it is."""
    return nullable(PART_SCHEMA).append(pa.field("part", pa.string()))


class _Sample:
    """The first rows of a task, to see how well they compress."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self._rows = self._bytes = 0

    def add(self, tables: Iterator[pa.Table]) -> None:
        """Take more rows, until there are enough."""
        while self._rows < _SAMPLE_ROWS and self._bytes < _SAMPLE_BYTES and (rows := next(tables, None)) is not None:
            if rows.num_rows:
                self._tables.append(rows)
                self._rows, self._bytes = self._rows + rows.num_rows, self._bytes + size_of(rows)

    def measured(self, sums: PartSums) -> PartSums:
        """The sums with how well the sample compresses."""
        return replace(sums, sampled=self._bytes, written=bytes_per_byte(self._tables) * self._bytes)


def _told(sums: PartSums) -> pa.RecordBatch:
    told = {"part": SUMS, "value": sums.to_json()}
    schema = parts_schema()
    return pa.RecordBatch.from_arrays([pa.array([told.get(each.name)], each.type) for each in schema], schema=schema)


def _batches(rows: pa.Table, schema: pa.Schema, added: dict[str, pa.Array]) -> list[pa.RecordBatch]:
    """Rows as batches of a schema, with some columns added, and nulls in those that are unknown."""
    columns = {name: rows[name] for name in rows.column_names} | added
    made = [columns.get(each.name, pa.nulls(rows.num_rows, each.type)) for each in schema]
    found: list[pa.RecordBatch] = pa.table(made, schema=schema).combine_chunks().to_batches()
    return found


@dataclass(frozen=True, slots=True)
class CompensateWorker:
    """The function for `mapInArrow` that applies a compensation to rows of views."""

    compensation: Compensation

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What a compensation makes of rows; nested ones may bring a node more than once."""
        for batch in batches:
            rows = pa.Table.from_batches([batch]).select(SCHEMA.names).cast(SCHEMA)
            yield from _batches(compensate(rows, self.compensation), nullable(SCHEMA), {})


def extract_nested(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The fragments of nested rows, for `mapInArrow`: each comes with what it lies in."""
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        rows = rows.sort_by([(name, "ascending") for name in ("document", "version", "inside", "offset")])
        texts = [rows[name].combine_chunks().dictionary_encode() for name in ("document", "version")]
        keys = np.stack([*(each.indices.to_numpy() for each in texts), rows["inside"].to_numpy()], axis=1)
        is_new = np.append(True, np.any(keys[1:] != keys[:-1], axis=1))
        first = np.flatnonzero(is_new)
        together = pa.concat_tables([_around(rows.take(first)), rows.select(SCHEMA.names)])
        group = np.append(np.arange(first.size), np.cumsum(is_new) - 1)
        is_nested = np.append(np.zeros(first.size, bool), np.ones(len(rows), bool))
        order = np.lexsort((np.arange(group.size), is_nested, group))  # each behind what it lies in
        found = extract(together.take(pa.array(order)), is_nested[order])
        yield from _batches(found, nullable(SCHEMA), {})


def _around(nested: pa.Table) -> pa.Table:
    """The topmost nodes around nested rows, as far as what is extracted from them needs to know them."""
    length, fragment = AROUND
    of = {"offset": "inside", "length": length, "fragment": fragment}
    columns = [nested[of.get(name, name)] for name in SCHEMA.names]
    return pa.table(columns, schema=nested.select(SCHEMA.names).schema)
