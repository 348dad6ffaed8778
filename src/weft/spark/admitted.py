"""A DataFrame of documents in, the same with the ids and times inside them, and why some are rejected, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import coalesce, col, current_timestamp, lit, when
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    IntegerType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from weft.broker.admission import Admission, Particulars
from weft.broker.answers import chunks
from weft.broker.stream_rules import CLOCK, FILE, StreamRule, all_rules, is_path
from weft.delivery.job import Job
from weft.documents.build import read
from weft.documents.document import Document, Limits, read_limits
from weft.documents.moment import exact_seconds
from weft.documents.schema import Schema
from weft.errors import ConfigurationError, DocumentError
from weft.spark.transform import FAULT, check_documents, is_place, quoted_column

_PLACE = StructType(
    [StructField("reason", StringType()), StructField("line", IntegerType()), StructField("column", IntegerType())]
)
_ERROR = "error"  # the column of the source `weft` for what could not be had at all


@dataclass(frozen=True, slots=True)
class AdmitWorker:
    """The function for `mapInArrow`: columns that documents decide are written anew, all others pass through."""

    rules: tuple[StreamRule, ...]
    schema: Schema | None
    limits: Limits
    value: str
    stream: str | None
    id: str | None  # the columns that are written, which the frame has
    timestamp: str | None
    fault: pa.DataType

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each batch with its new columns."""
        admission = Admission(self.rules, self.schema, self.limits)
        for batch in batches:
            told = self._told(admission, batch)
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            if self.id is not None:
                own = {row: each.id for row, each in told.items() if each.id is not None}
                columns[self.id] = _put(columns[self.id], own)
            if self.timestamp is not None:
                kind = columns[self.timestamp].type
                moments = {row: each.moment for row, each in told.items() if each.moment is not None}
                columns[self.timestamp] = _put(columns[self.timestamp], _as_column(moments, kind))
            faults = {row: _record(each.error) for row, each in told.items() if each.error is not None}
            before = columns[FAULT].to_pylist()
            columns[FAULT] = pa.array([faults.get(row, each) for row, each in enumerate(before)], self.fault)
            yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _told(self, admission: Admission, batch: pa.RecordBatch) -> dict[int, Particulars]:
        """By row what its document says; what cannot be read at all is told by who reads it next."""
        streams = batch.column(self.stream).to_pylist() if self.stream is not None else None
        values = batch.column(self.value)
        documents = (
            Document(values[row].as_py(), str(row), (streams[row] or "") if streams is not None else "")
            for row in range(len(batch))
            if values[row].is_valid
        )
        told: dict[int, Particulars] = {}
        for chunk in chunks(documents):
            table = read(chunk, self.limits)
            for document, each in zip(table.documents, admission.particulars(table), strict=True):
                told[int(document.id)] = each
        return told


def _put(column: pa.Array, changes: Mapping[int, object]) -> pa.Array:
    """A column with other values in some rows."""
    if not changes:
        return column
    values = column.to_pylist()
    for row, value in changes.items():
        values[row] = value
    return pa.array(values, column.type)


def _as_column(moments: dict[int, int], kind: pa.DataType) -> dict[int, object]:
    """Nanoseconds as what a column has: whole microseconds, or seconds."""
    if pa.types.is_timestamp(kind):
        return {row: pa.scalar(moment // 1000, pa.timestamp("us", kind.tz)).as_py() for row, moment in moments.items()}
    return {row: float(exact_seconds(moment)) for row, moment in moments.items()}


def _record(error: DocumentError) -> dict[str, object]:
    return {"reason": error.reason, "line": error.line, "column": error.column}


@dataclass(frozen=True, slots=True)
class Admitting:
    """What is done to a frame of documents before anything else, and the columns that have ids and times then."""

    rules: tuple[StreamRule, ...]
    schema: Schema | None
    limits: Limits
    column: str
    stream: str
    id: str | Sequence[str]
    timestamp: str

    def __call__(self, frame: DataFrame) -> DataFrame:
        """Write what documents have inside into the columns for it; the column `FAULT` tells why some go no further."""
        if not self.rules and self.schema is None:
            return frame
        check_documents(frame, self.column)
        frame = self._on_the_clock(frame)
        has_id, has_time = any(rule.id for rule in self.rules), any(map(_has_path, self.rules))
        if not has_id and not has_time and self.schema is None:
            return frame
        assert isinstance(self.id, str) or not has_id, "ids inside documents have a column of their own"
        own_id, own_time = self.id if has_id else None, self.timestamp if has_time else None
        if own_id is not None:
            there = quoted_column(str(own_id)).cast("string") if own_id in frame.columns else lit(None).cast("string")
            frame = frame.withColumn(str(own_id), there)
        if own_time is not None:
            frame = frame.withColumn(own_time, _moments(frame, own_time))
        frame = frame.withColumn(FAULT, col(_ERROR) if is_place(frame, _ERROR) else lit(None).cast(_PLACE))
        named = self.stream if self.stream in frame.columns and _is_text(frame, self.stream) else None
        fields = [StructField(field.name, field.dataType) for field in frame.schema.fields]
        fault = to_arrow_schema(StructType([fields[-1]])).field(FAULT).type
        names = self.column, named, None if own_id is None else str(own_id), own_time
        work = AdmitWorker(self.rules, self.schema, self.limits, *names, fault)
        return frame.mapInArrow(work, StructType(fields))

    def _on_the_clock(self, frame: DataFrame) -> DataFrame:
        """The time of the micro-batch for the streams that go by the clock: the same when it runs again."""
        if not any(rule.timestamp == CLOCK for rule in self.rules):
            return frame
        named = coalesce(quoted_column(self.stream) if self.stream in frame.columns else lit(None), lit(""))
        known = [rule.stream for rule in self.rules if rule.stream != "*"]
        clocked = [rule.stream for rule in self.rules if rule.timestamp == CLOCK and rule.stream != "*"]
        is_clocked = named.isin(clocked)
        if any(rule.stream == "*" and rule.timestamp == CLOCK for rule in self.rules):
            is_clocked = is_clocked | ~named.isin(known)
        there = self.timestamp in frame.columns
        before = quoted_column(self.timestamp).cast("timestamp") if there else lit(None).cast("timestamp")
        return frame.withColumn(self.timestamp, when(is_clocked, current_timestamp()).otherwise(before))


def admitting(
    rules: Sequence[StreamRule],
    column: str,
    id: str | Sequence[str],
    stream: str,
    timestamp: str | None,
    schema: str | Path | Schema | None,
    limits: Limits | None,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
) -> Admitting:
    """What the options say: an id or a timestamp is the name of a column, or a path inside documents.

    A timestamp that is "file" or "clock" is no column, but the source's time or the clock's.
    """
    time = timestamp if timestamp is not None and (is_path(timestamp) or timestamp in (FILE, CLOCK)) else None
    own = id if isinstance(id, str) and is_path(id) else None
    whole = all_rules(rules, time, own, namespaces, ignore_namespaces)
    is_inside = any(rule.id for rule in whole)
    named = "document" if own is not None or (is_inside and not isinstance(id, str)) else id
    checked = schema if isinstance(schema, Schema) or schema is None else Schema.load(schema)
    at = timestamp if timestamp is not None and time is None else "timestamp"
    return Admitting(whole, checked, limits or Limits(), column, stream, named, at)


def _has_path(rule: StreamRule) -> bool:
    return rule.timestamp not in (None, FILE, CLOCK)


def _is_text(frame: DataFrame, name: str) -> bool:
    return isinstance(frame.schema[name].dataType, StringType)


def _moments(frame: DataFrame, timestamp: str) -> Column:
    """The column of times as it is, or a new one; whole numbers have room for parts of a second then."""
    if timestamp not in frame.columns:
        return lit(None).cast("timestamp")
    kind = frame.schema[timestamp].dataType
    if isinstance(kind, TimestampType | TimestampNTZType):
        return quoted_column(timestamp).cast("timestamp")
    if isinstance(kind, NumericType):
        return quoted_column(timestamp).cast("double")
    raise ConfigurationError(f"column {timestamp!r}: expected timestamp or a number, found {kind.simpleString()}")


def admitting_of(job: Job, rules: Sequence[StreamRule]) -> Admitting:
    """What `weft run` does to its documents."""
    limits = read_limits(job.limits)
    names = ("value", "document", "stream", job.timestamp or "timestamp")
    return admitting(
        rules, names[0], job.id or names[1], *names[2:], job.schema, limits, job.namespaces, job.ignore_namespaces
    )
