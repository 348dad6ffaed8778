"""Arrow batches of documents in, Arrow batches of messages or matches out: what runs inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from weft.broker.answers import deliver, read_to_match
from weft.broker.answers import match as match_batch
from weft.broker.deliveries import Deliveries
from weft.documents.build import read
from weft.documents.table import NodeTable
from weft.spark.compiled import Compiled, WorkerPlans, unpack
from weft.spark.worker_documents import KnownByHeader, Layout, Rejection, not_made, offset_of, read_batches, row_of

_ROWS = 10_000  # rows of an output batch, at most
_CHARACTERS = 16 * 1024 * 1024  # and about so much text, unless one message is larger


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
            known = KnownByHeader(plans.headers, plans.limits, True)
            for table, unread in read_batches(batch, self.layout, plans.limits, known, read):
                made = None if self.only_rejected else deliver(plans.engine, table)
                bad = unread + (not_made(batch, table, made, self.layout, plans) if made else [])
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
        place = np.array([row_of(document) for document in table.documents])[rows.document]
        offset = np.array([offset_of(document) for document in table.documents])[rows.document]
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
            by_header = KnownByHeader(plans.headers, plans.limits)
            reader = partial(read_to_match, plans.engine)
            for documents, unread in read_batches(batch, self.layout, plans.limits, by_header, reader):
                found = match_batch(plans.engine, documents)
                bad = unread + not_made(batch, documents, found, self.layout, plans)
                if self.fail_fast and bad:
                    raise bad[0].error
                for rejection in bad:
                    records[rejection.row] = rejection.record
                unmatched = {place for place, _ in found.rejected}
                for place, (document, matches) in enumerate(zip(documents.documents, found.subscriptions, strict=True)):
                    numbers[row_of(document)] = None if place in unmatched else np.sort(matches)
            for row, known in by_header.found.items():
                numbers[row] = np.array(known, np.int32)
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


def _cuts(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that are not too large for one batch."""
    start = size = 0
    for at, text in enumerate(texts):
        if at > start and (at - start == _ROWS or size + len(text) > _CHARACTERS):
            yield start, at
            start, size = at, 0
        size += len(text)
    yield start, len(texts)
