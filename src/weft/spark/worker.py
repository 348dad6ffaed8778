"""Arrow batches of documents in, Arrow batches of messages or matches out: what runs inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from weft.broker.admission import Admission
from weft.broker.answers import deliver, portions, read_to_match
from weft.broker.answers import match as match_batch
from weft.documents.build import read
from weft.documents.schema import Schema
from weft.documents.table import NodeTable
from weft.engine.deliveries import Deliveries
from weft.engine.messages.texts import Texts
from weft.spark.compiled import Compiled, WorkerPlans, unpack
from weft.spark.reloading import Reloaded
from weft.spark.typed_worker import COLUMNS, TypedRow, parted
from weft.spark.worker_documents import KnownByHeader, Layout, Rejection, not_made, offsets_of, read_batches, rows_of

_ROWS = 10_000  # rows of an output batch, at most
_BYTES = 16 * 1024 * 1024  # and so much text, unless one message is larger


@dataclass(frozen=True, slots=True)
class DeliverWorker:
    """The function for `mapInArrow` that makes messages of documents."""

    compiled: Compiled
    layout: Layout
    added: pa.Schema
    rejected: str | None  # the column for rejected documents; None drops them
    fail_fast: bool = False
    only_rejected: bool = False  # documents are read only: what cannot be read is known then
    reload: Reloaded | None = None  # subscriptions that change while a stream runs

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The messages of each document, and a row for each document or message that came to nothing."""
        if self.reload is not None:
            now = replace(self, compiled=self.reload.current(self.compiled), reload=None)
            yield from now(batches)
            return
        plans = unpack(self.compiled)
        for batch in batches:
            known = KnownByHeader(plans.headers, plans.limits, True)
            for table, unread in read_batches(batch, self.layout, plans.limits, known, read):
                plans.keep_up(self.compiled.choice)
                made = None if self.only_rejected else deliver(plans.engine, table)
                bad = unread + (not_made(batch, table, made, self.layout, plans) if made else [])
                if self.fail_fast and bad:
                    raise bad[0].error
                if self.rejected is not None and bad:
                    yield self._rejections(batch, bad, plans)
                if made and made.text:
                    plain, typed = parted(made, plans.typed)
                    yield from self._messages(batch, table, plain, plans)
                    yield from self._typed(batch, table, typed, plans)
        if not self.only_rejected:
            plans.tell(self.compiled.choice, self.compiled.digest)

    def _messages(
        self, batch: pa.RecordBatch, table: NodeTable, rows: Deliveries, plans: WorkerPlans
    ) -> Iterator[pa.RecordBatch]:
        position = rows.position
        place = np.array(rows_of(table.documents))[rows.document]
        offset = np.array(offsets_of(table.documents))[rows.document]
        for start, end, texts in _cuts(rows.text):
            cut = slice(start, end)
            made = {
                "subscription": plans.ids.take(pa.array(rows.subscription[cut])),
                "destination": plans.destinations.take(pa.array(rows.subscription[cut])),
                "message": texts,
                "position": pa.array(position[cut], pa.int32()),
                "row": pa.array(offset[cut], pa.int64()),
                "version": pa.repeat(pa.scalar(self.compiled.version, pa.int32()), end - start),
            }
            yield self._batch(batch, place[cut], made)

    def _typed(
        self, batch: pa.RecordBatch, table: NodeTable, rows: Iterator[TypedRow], plans: WorkerPlans
    ) -> Iterator[pa.RecordBatch]:
        place, offset = np.array(rows_of(table.documents)), np.array(offsets_of(table.documents))
        for some in portions(rows, lambda row: len(row.text), _ROWS, _BYTES):
            documents, subscription, position, texts, values = zip(*some, strict=True)
            numbers, at = pa.array(subscription, pa.int64()), np.array(documents)
            made = {
                "subscription": plans.ids.take(numbers),
                "destination": plans.destinations.take(numbers),
                "message": pa.array(texts, pa.string()),
                "position": pa.array(position, pa.int32()),
                "row": pa.array(offset[at], pa.int64()),
                "version": pa.repeat(pa.scalar(self.compiled.version, pa.int32()), len(some)),
            }
            if COLUMNS in self.added.names:
                made[COLUMNS] = pa.array(values, self.added.field(COLUMNS).type)
            yield self._batch(batch, place[at], made)

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
    schema: Schema | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each input batch with its new column; a rejected document has no list at all."""
        plans = unpack(self.compiled)
        admission = Admission((), self.schema, plans.limits)
        for batch in batches:
            numbers: list[Any] = [None] * len(batch)
            records: list[dict[str, object] | None] = [None] * len(batch)
            by_header = KnownByHeader(plans.headers, plans.limits)
            reader = partial(read_to_match, plans.engine) if admission.is_open else admission.check_within
            for documents, unread in read_batches(batch, self.layout, plans.limits, by_header, reader):
                plans.keep_up(self.compiled.choice)
                found = match_batch(plans.engine, documents)
                bad = unread + not_made(batch, documents, found, self.layout, plans)
                if self.fail_fast and bad:
                    raise bad[0].error
                for rejection in bad:
                    records[rejection.row] = rejection.record
                unmatched = {place for place, _ in found.rejected}
                rows = rows_of(documents.documents)
                for place, (row, matches) in enumerate(zip(rows, found.subscriptions, strict=True)):
                    numbers[row] = None if place in unmatched else np.sort(matches)
            for row, known in by_header.found.items():
                numbers[row] = np.array(known, np.int32)
            yield self._batch(batch, plans, numbers, records)
        plans.tell(self.compiled.choice, self.compiled.digest)

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


def _cuts(texts: Texts) -> Iterator[tuple[int, int, pa.StringArray]]:
    """Ranges of rows that are not too large for one batch, with their texts, which are written into the arrays."""
    start = 0
    while start < len(texts):
        most = min(start + _ROWS, len(texts))
        sizes = np.cumsum(texts.sizes(start, most))  # known before anything is written
        end = start + max(1, int(np.searchsorted(sizes, _BYTES, "right")))
        data, ends = texts.joined(start, end)
        offsets = np.append(0, ends).astype(np.int32)
        yield start, end, pa.StringArray.from_buffers(end - start, pa.py_buffer(offsets), pa.py_buffer(data))
        start = end
