"""A DataFrame of documents in, the same with the names, identities and moments that joins know out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import inf

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import abs, coalesce, concat, current_timestamp, lit, round, struct, unix_micros, when
from pyspark.sql.types import NumericType, StringType, TimestampNTZType, TimestampType

from weft.documents.moment import END, SECOND, Span, span
from weft.errors import ConfigurationError
from weft.spark.joins_worker import SEPARATOR
from weft.spark.transform import FAULT, check_documents, is_place, quoted_column


def documents_of(
    frame: DataFrame,
    column: str = "value",
    id: str | Sequence[str] = "document",
    stream: str = "stream",
    timestamp: str = "timestamp",
) -> DataFrame:
    """The documents with the names that workers know; `arrival` orders those of one moment.

    `document` tells one from all others: the ids and the stream, each after the other (`shown_id` makes an id of it).
    """
    check_documents(frame, column)
    ids = [id] if isinstance(id, str) else list(id) or [""]
    for name, given in (*(("id", each) for each in ids), ("timestamp", timestamp)):
        if given not in frame.columns:
            what = "a name of its own" if name == "id" else "the time when it came"
            found = f"expected one of {', '.join(frame.columns)}, found {given!r}"
            raise ConfigurationError(f"{name}: {found}; to be joined, each document needs {what}")
    named = stream in frame.columns and isinstance(frame.schema[stream].dataType, StringType)
    of = coalesce(quoted_column(stream), lit("")) if named else lit("")
    parts = [quoted_column(each).cast("string") for each in ids]
    documents = _admitted(frame).select(
        concat(*chain.from_iterable((part, lit(SEPARATOR)) for part in parts), of).alias("document"),
        of.alias("stream"),
        _nanoseconds(frame, timestamp).alias("nanoseconds"),
        quoted_column(column).alias("value"),
        struct(*map(quoted_column, ids)).alias("arrival"),
    )
    return documents.where("document IS NOT NULL AND value IS NOT NULL AND nanoseconds IS NOT NULL")


def _admitted(frame: DataFrame) -> DataFrame:
    """The documents that go on."""
    return frame.where(quoted_column(FAULT).isNull()) if is_place(frame, FAULT) else frame


def is_ahead(frame: DataFrame, timestamp: str, ahead: Span) -> Column:
    """Whether a document is dated too far after the clock, which stands still during a micro-batch."""
    return _nanoseconds(frame, timestamp) > unix_micros(current_timestamp()) * 1000 + lit(furthest(ahead))


def furthest(ahead: Span) -> int:
    """How far ahead a document may be dated, in nanoseconds; `inf` is any time."""
    return END if ahead == inf else span(ahead, "ahead")


def _nanoseconds(frame: DataFrame, timestamp: str) -> Column:
    """When each document came, to the microsecond; null where no document can have come."""
    kind = frame.schema[timestamp].dataType
    if not isinstance(kind, NumericType | TimestampType | TimestampNTZType):
        raise ConfigurationError(
            f"column {timestamp!r}: expected timestamp or a number of seconds, found {kind.simpleString()}"
        )
    moment = quoted_column(timestamp)
    if isinstance(kind, NumericType):
        seconds = moment.cast("double")
        return when(abs(seconds) < END // SECOND, round(seconds * 1e6).cast("bigint") * 1000)
    micros = unix_micros(moment.cast("timestamp"))
    return when(abs(micros) < END // 1000, micros * 1000)
