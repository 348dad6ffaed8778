"""Micro-batches of documents in, messages of the queries that need all documents in their order out.

Chains, absence, windows in documents and cascades are joined on the driver, by one engine: Spark's own join of streams
does not have them. Workers find the documents that such a query asks for; only these come here. The state is written
to a file for each batch, so that a batch that runs again begins where it began before, and makes the same messages.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import max

from weft.documents.moment import START, Span, span
from weft.joins.checkpoint import load, save
from weft.joins.joins import Joins
from weft.joins.time.arrivals import ANY_TIME, Arrivals
from weft.spark.compiled import Compiled, unpack_joins
from weft.spark.joins import with_moments
from weft.spark.joins_worker import MESSAGES, Gather, Touched

_FRESH = -1  # before the first batch
# Spark does not take a table without any batch. Made of nulls: a list as an array would load pandas right now.
_NOTHING = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in MESSAGES], schema=MESSAGES)


class Gathered:
    """The gathered queries of a stream. `lateness` is how long a document may come late; others wait for it."""

    def __init__(self, compiled: Compiled, folder: Path, lateness: Span) -> None:
        assert compiled.joins is not None
        self._plans, self._folder = compiled.joins, folder
        self._lateness = span(lateness, "lateness")
        self._gather = Gather(compiled, compiled.joins)
        self._joins, self._at = self._fresh(), _FRESH

    def messages(self, batch: int, documents: DataFrame) -> DataFrame:
        """The messages of a batch; when this returns the state after it is on the disk."""
        if self._at != batch - 1:  # a start, or a batch that runs again
            self._joins, self._at = self._restored(batch - 1), batch - 1
        touched = documents if self._plans.needs_all else documents.mapInArrow(Touched(self._plans), documents.schema)
        ordered = touched.sort("nanoseconds", "arrival").toArrow()
        latest = documents.agg(max("nanoseconds")).collect()[0][0]  # also of documents that nobody asks for
        self._at = _FRESH  # until the batch is done
        until = START if latest is None else latest - self._lateness
        made = list(self._gather.batches(self._joins, ordered.to_batches(), until))
        save(self._joins, self._file(batch), self._ids(self._joins))
        self._at = batch
        self._file(batch - 2).unlink(missing_ok=True)
        rows = pa.Table.from_batches(made or [_NOTHING], MESSAGES)
        return with_moments(documents.sparkSession.createDataFrame(rows))

    def _fresh(self) -> Joins:
        joins = unpack_joins(self._plans).joins()
        # The clock decides nothing here: a batch that runs again must make the same messages.
        joins.arrivals = Arrivals(self._lateness, ANY_TIME)
        return joins

    def _restored(self, batch: int) -> Joins:
        joins = self._fresh()
        if batch >= 0:
            load(joins, self._file(batch), self._ids(joins))
        return joins

    def _ids(self, joins: Joins) -> dict[str, int]:
        ids = unpack_joins(self._plans).ids
        return {ids[number].as_py(): number for number in joins.registered}

    def _file(self, batch: int) -> Path:
        return self._folder / f"joins-{batch}"
