"""Records of Kafka in, documents out; messages and rejected documents in, records out: for `DataFrame.transform`.

A message's record has the key and the headers of the document's record, and these headers of its own:

weft-message-id     what tells it from every other message, the same whenever it is sent: as JSON its subscription,
                    topic, partition, offset and position; of documents that are no records, `document` or `documents`
weft-subscription   whose message it is; weft-destination, if the subscription has one
weft-timestamp      when the document's record came, in milliseconds since 1970

A dead letter has the document's bytes, its key and all its headers, and weft-error, weft-line, weft-column,
weft-document and weft-message-id.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    aggregate,
    array,
    coalesce,
    col,
    concat,
    concat_ws,
    filter,
    lit,
    octet_length,
    raise_error,
    struct,
    to_json,
    unix_millis,
    when,
)
from pyspark.sql.types import BinaryType, TimestampType

from weft.delivery.output import REJECTED, Mode
from weft.delivery.topics import LARGEST, LARGEST_OPTION
from weft.spark.record_headers import RECORD_HEADERS, from_record_headers

Frames = Callable[[DataFrame], DataFrame]
#: The header that tells one message from all others.
MESSAGE_ID = "weft-message-id"
_OWN = "weft-"  # how the names of all our headers begin
_ROOM = 2_048  # bytes of a record for what is neither in the message nor passed through
_PLACE = ("topic", "partition", "offset")


def from_records(*, views: bool = False) -> Frames:
    """Records as Kafka's source reads them with `includeHeaders`: documents with all that came beside them.

    `document` is topic/partition/offset, `stream` the topic; `key`, `topic`, `partition`, `offset`, `timestamp`,
    `timestampType` and `headers` stay. With `views` the column `header` has what a record's header `weft-views` brings.
    """

    def transform(frame: DataFrame) -> DataFrame:
        named = frame.withColumns({"document": concat_ws("/", *_PLACE), "stream": col("topic")})
        return named.transform(from_record_headers()) if views else named

    return transform


def to_records() -> Frames:
    """Messages, as `deliver` and `join` make them, as records for Kafka's sink: `key`, `value`, `headers`.

    A document that is no record itself gives its id as the key, so that its messages stay in one partition.
    """

    def transform(frame: DataFrame) -> DataFrame:
        own = {
            MESSAGE_ID: message_id(frame),
            "weft-subscription": col("subscription"),
            "weft-destination": col("destination"),
        }
        if "timestamp" in frame.columns and isinstance(frame.schema["timestamp"].dataType, TimestampType):
            own["weft-timestamp"] = unix_millis("timestamp").cast("string")
        value = col("message").cast("binary").alias("value")
        return frame.select(_key(frame), value, _headers(_passed(frame, keep_own=False), own))

    return transform


def to_dead_letters(largest: int = LARGEST) -> Frames:
    """Rejected documents, as `rejected` gives them, as records for Kafka's sink.

    Where only a message was refused, or the document could not be had, the value is empty; so is one that makes more
    than `largest` bytes, and then `weft-omitted` tells how many there were.
    """

    def transform(frame: DataFrame) -> DataFrame:
        source = coalesce(col("source").cast("binary"), lit(b""))
        headers = _passed(frame, keep_own=True)
        is_large = octet_length(source) + _bytes_of(headers) + _length(frame, "key") + octet_length("error") > (
            largest - _ROOM
        )
        own = {
            MESSAGE_ID: message_id(frame),
            "weft-error": col("error"),
            "weft-line": col("line").cast("string"),
            "weft-column": col("column").cast("string"),
            **{f"weft-{name}": col(name) for name in ("document", "subscription") if name in frame.columns},
            "weft-omitted": when(is_large, octet_length(source).cast("string")),
        }
        value = when(is_large, lit(b"")).otherwise(source).alias("value")
        return frame.select(_key(frame), value, _headers(headers, own))

    return transform


def message_id(frame: DataFrame) -> Column:
    """What tells a message, or a rejected document, from all others: as JSON, without what there is not."""
    names = ["documents"] if "documents" in frame.columns else []
    alone = col("documents").isNull() if names else lit(True)
    place = _PLACE if set(_PLACE) <= set(frame.columns) else ("document",)
    parts = [when(alone, col(name)).alias(name) for name in place if name in frame.columns]
    rest = [name for name in ("row", "position", "error", "line", "column") if name in frame.columns]
    first = ["subscription"] if "subscription" in frame.columns else []
    told = struct(*map(col, first), *parts, *map(col, names), *map(col, rest))
    return to_json(told, {"ignoreNullFields": "true"})


def fitting(largest: int, mode: Mode, work: Frames) -> Frames:
    """The rows of `work`, a transform of `deliver`; a message that no record can have is refused, as `mode` says."""

    def transform(frame: DataFrame) -> DataFrame:
        made = work(frame)
        size = octet_length("message") + _length(made, "key") + _bytes_of(_passed(made, keep_own=False))
        named = [_length(made, name) * 8 for name in ("subscription", "destination", "document")]
        is_large = reduce(add, named, size) > largest - _ROOM
        found = concat(lit("message "), col("position"), lit(" has "), octet_length("message"), lit(" bytes, and "))
        reason = concat(found, lit(f"its record at most {largest}: see {LARGEST_OPTION}"))
        if mode == "FAILFAST":
            refused = concat(lit("subscription "), col("subscription"), lit(": "), reason)
            return made.withColumn("message", when(is_large, raise_error(refused)).otherwise(col("message")))
        if REJECTED not in made.columns:
            return made.where(~coalesce(is_large, lit(False)))
        kind = made.schema[REJECTED].dataType
        told = concat(lit("subscription "), col("subscription"), lit(": "), reason).alias("error")
        record = struct(told, lit(1).alias("line"), lit(1).alias("column"), lit(None).alias("source")).cast(kind)
        return made.withColumns(
            {
                REJECTED: when(is_large, record).otherwise(col(REJECTED)),
                "message": when(~coalesce(is_large, lit(False)), col("message")),
            }
        )

    return transform


def is_absent() -> Column:
    """Whether a record has no document: a tombstone, or an empty value."""
    return col("value").isNull() | (octet_length("value") == 0)


def _key(frame: DataFrame) -> Column:
    name = next((name for name in ("key", "document") if name in frame.columns), None)
    if name is None:
        return lit(None).cast("binary").alias("key")
    is_binary = isinstance(frame.schema[name].dataType, BinaryType)
    return (col(name) if is_binary else col(name).cast("string").cast("binary")).alias("key")


def _passed(frame: DataFrame, *, keep_own: bool) -> Column:
    """The headers of the document's record, without those that tell of it alone."""
    none = array().cast(RECORD_HEADERS)
    if "headers" not in frame.columns:
        return none
    given = coalesce(col("headers").cast(RECORD_HEADERS), none)
    if keep_own:  # a dead letter may be read again as the document that it is
        return filter(given, lambda each: each["key"] != lit(MESSAGE_ID))
    return filter(given, lambda each: ~each["key"].startswith(_OWN))


def _headers(passed: Column, own: dict[str, Column]) -> Column:
    made = [
        when(value.isNotNull(), struct(lit(name).alias("key"), value.cast("binary").alias("value")))
        for name, value in own.items()
    ]
    return concat(passed, filter(array(*made).cast(RECORD_HEADERS), lambda each: each.isNotNull())).alias("headers")


def _length(frame: DataFrame, name: str) -> Column:
    return coalesce(octet_length(col(name).cast("string")), lit(0)) if name in frame.columns else lit(0)


def _bytes_of(headers: Column) -> Column:
    return aggregate(
        headers,
        lit(0),
        lambda total, each: total + octet_length(each["key"]) + coalesce(octet_length(each["value"]), lit(0)) + 10,
    )
