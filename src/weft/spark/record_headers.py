"""A column of headers in, the headers of Kafka's records out, and back: functions for `DataFrame.transform`.

Kafka's source gives the headers of records, with `includeHeaders`, as a column `headers` of keys and values, and its
sink writes them from such a column.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql.functions import array, array_append, coalesce, col, filter, lit, struct, try_element_at, when

from weft.headers.header import RECORD_HEADER

#: The type of record headers in a frame of Kafka's source.
RECORD_HEADERS = "array<struct<key:string,value:binary>>"


def to_record_headers(header: str = "header", records: str = "headers") -> Callable[[DataFrame], DataFrame]:
    """Put the header of each document, if it has one, among the headers of its record, as `weft-views`.

    Other headers of the record stay; the column `header` is dropped.
    """

    def transform(frame: DataFrame) -> DataFrame:
        none = array().cast(RECORD_HEADERS)
        given = coalesce(col(records).cast(RECORD_HEADERS), none) if records in frame.columns else none
        others = filter(given, lambda each: each["key"] != lit(RECORD_HEADER))
        own = struct(lit(RECORD_HEADER).alias("key"), col(header).cast("binary").alias("value"))
        made = when(col(header).isNull(), others).otherwise(array_append(others, own))
        return frame.withColumn(records, made.cast(RECORD_HEADERS)).drop(header)

    return transform


def from_record_headers(header: str = "header", records: str = "headers") -> Callable[[DataFrame], DataFrame]:
    """Add the column `header` from the headers of records; null where there is none. Of several the last counts."""

    def transform(frame: DataFrame) -> DataFrame:
        own = filter(col(records).cast(RECORD_HEADERS), lambda each: each["key"] == lit(RECORD_HEADER))
        return frame.withColumn(header, try_element_at(own, lit(-1))["value"])

    return transform
