"""Subscriptions in, a function for `DataFrame.transform` out: documents become messages of what XSCL joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import (
    col,
    concat,
    count,
    expr,
    lit,
    raise_error,
    struct,
    translate,
    when,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import NumericType, StringType

from weft.delivery.job import AHEAD, LATENESS
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.moment import SECOND, Span, span
from weft.errors import ConfigurationError
from weft.joins.compile.queries import ANY_LENGTH
from weft.joins.pairs import PairJoins
from weft.spark.compiled import Compiled, Subscriptions, unpack_joins
from weft.spark.joins_documents import documents_of, furthest, is_ahead
from weft.spark.joins_plans import CompiledJoins
from weft.spark.joins_worker import (
    MESSAGES,
    OCCURRENCES,
    SEPARATOR,
    SIDE,
    Decide,
    Gather,
    OccurrenceWorker,
    SideWorker,
    Touched,
)
from weft.spark.older import needed, version_of
from weft.spark.transform import Transform, as_compiled

_LONGEST = 3_000_000_000  # seconds of a window that is still told from one without end: Spark counts days in an int
_MESSAGES, _OCCURRENCES, _SIDE = (from_arrow_schema(schema) for schema in (MESSAGES, OCCURRENCES, SIDE))

#: R_L and R_R are the occurrences; which predicates hold between two documents is a set, worked out once for all pairs.
_JOIN = """
WITH meetings AS (
    SELECT /*+ BROADCAST(p) */ e.document AS earlier, l.document AS later, p.predicate,
        l.nanoseconds - e.nanoseconds AS gap
    FROM {occurrences} AS e
    JOIN {predicates} AS p ON p.earlier = e.variable
    JOIN {occurrences} AS l ON l.variable = p.later AND l.key = e.key
    WHERE (e.nanoseconds, e.document) < (l.nanoseconds, l.document) AND l.nanoseconds - e.nanoseconds <= bigint({reach})
), pairs AS (
    SELECT earlier, later, gap, array_sort(collect_set(predicate)) AS held
    FROM meetings
    GROUP BY earlier, later, gap
), complete AS (
    SELECT held, opening, count(*) AS size
    FROM (SELECT held, explode(held) AS predicate FROM (SELECT DISTINCT held FROM pairs))
    JOIN {needs} USING (predicate)
    GROUP BY held, opening
), sets AS (
    SELECT held, collect_list(struct(opening, length, strict)) AS openings
    FROM complete JOIN {openings} USING (opening, size)
    GROUP BY held
), candidates AS (
    SELECT earlier, later, filter(openings, s -> gap <= s.length AND (gap > 0 OR NOT s.strict)).opening AS openings
    FROM pairs JOIN sets USING (held)
)
SELECT c.openings, struct(e.*) AS earlier, struct(l.*) AS later
FROM candidates AS c
JOIN {documents} AS e ON e.document = c.earlier
JOIN {documents} AS l ON l.document = c.later
WHERE size(c.openings) > 0
"""


# Long: half of it says what the options mean.
def join(
    subscriptions: Subscriptions | Compiled,
    column: str = "value",
    *,
    id: str | Sequence[str] = "document",
    stream: str = "stream",
    timestamp: str = "timestamp",
    lateness: Span = LATENESS,
    ahead: Span = AHEAD,
    ignoreNamespace: bool = False,
    version: int = 1,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
) -> Transform:
    """Make messages of documents that belong together: `frame.transform(join("subscriptions.jsonl"))`.

    `column` has the documents as string or binary, `timestamp` when each came: a Spark timestamp, or a number of
    seconds. If the frame has a column named by `stream`, it says which stream a document is of. `id` is the column, or
    the columns, that tell the documents of one stream apart: of Kafka, `stream="topic", id=["partition", "offset"]`.
    A row in which one of these is null, or whose document cannot be read, takes no part. In a batch two documents of
    one stream with the same id end the job with an error; in a stream nobody looks for them, and what they bring is
    told for either.

    Each message of an XSCL subscription is a row: `subscription`, `destination`, `message`, `position` (from 1, where
    the same documents bring several), `version`, `documents` (the ids of the joined documents, in the order of the
    query's blocks) and `timestamp` (that of the latest of them, or when the window closed; a Spark timestamp, or
    seconds, as the frame has it). Subscriptions in other languages are for `deliver`; here they only get the messages
    that others publish.

    In a batch, queries that two documents decide are joined by all cores. Chains, NOT FOLLOWED BY, windows in
    documents, queries of one block, and queries that publish or read what is published need documents one after the
    other: all documents that they ask for are joined by one task, in the order of their timestamps, then of their ids.
    The frame is read several times, so it should be the same each time.

    In a stream the second kind is refused, and ConfigurationError tells each such query; `weft run --stream` takes
    them, for it has a place for their state. `lateness` is how many seconds, or a timedelta, a document may be behind
    the latest one that came before; one that comes later still is not joined, nor is one that is dated more than
    `ahead` after the clock, for all others would be late then. A checkpoint is for the same subscriptions only.
    """
    compiled = as_compiled(subscriptions, ignoreNamespace, limits, dtd, version)
    if compiled.joins is None:
        raise ConfigurationError("join: expected XSCL subscriptions, found none; the others are for weft.spark.deliver")
    span(lateness, "lateness")  # raises if it is none
    furthest(ahead)

    def transform(frame: DataFrame) -> DataFrame:
        if version_of() < (4, 0):
            raise needed("joining documents", "4.0", "use weft.Broker in one process")
        documents = documents_of(frame, column, id, stream, timestamp)
        if frame.isStreaming:
            check_stream(compiled)
            documents = documents_of(frame.where(~is_ahead(frame, timestamp, ahead)), column, id, stream, timestamp)
            made = join_stream(documents, compiled, lateness)
        else:
            made = _batch(documents, compiled)
        return with_seconds(made) if isinstance(frame.schema[timestamp].dataType, NumericType) else with_moments(made)

    return transform


def with_moments(messages: DataFrame) -> DataFrame:
    """Messages with Spark's timestamps instead of nanoseconds."""
    return messages.withColumn("timestamp", expr("timestamp_micros(timestamp div 1000)"))


def with_seconds(messages: DataFrame) -> DataFrame:
    """Messages with seconds instead of nanoseconds; those that a document was dated come back as they were."""
    return messages.withColumn("timestamp", expr("(timestamp div 1000) / 1e6D"))


def check_stream(compiled: Compiled) -> None:
    """Raise ConfigurationError for the XSCL subscriptions that a stream cannot have."""
    if compiled.joins is not None and compiled.joins.refused:
        raise ConfigurationError("\n".join(compiled.joins.refused))


# -- batch


def _batch(documents: DataFrame, compiled: Compiled) -> DataFrame:
    joins = compiled.joins
    assert joins is not None
    parts = []
    if joins.pairwise:
        parts.append(_pairs(documents.drop("arrival"), joins, compiled.version))
    if joins.gathered:
        touched = documents if joins.needs_all else documents.mapInArrow(Touched(joins), documents.schema)
        ordered = touched.repartition(1).sortWithinPartitions("nanoseconds", "arrival")
        parts.append(ordered.mapInArrow(Gather(compiled, joins), _MESSAGES))
    return reduce(DataFrame.unionByName, [*parts, _refuse_repeated(documents)])


def _refuse_repeated(documents: DataFrame) -> DataFrame:
    """No messages, but an error if two documents are called alike: one would be taken for the other."""
    number = documents.groupBy("document").agg(count(lit(1)).alias("number"))
    told = concat(
        lit("join: expected an id for each document of a stream, found "),
        translate("document", SEPARATOR, "/"),
        lit(" twice or more; name all columns that tell documents apart: id=['partition', 'offset']"),
    )
    repeated = number.where(when(col("number") > 1, raise_error(told)).isNotNull())
    return repeated.select(*(lit(None).cast(field.dataType).alias(field.name) for field in _MESSAGES))


def _pairs(documents: DataFrame, joins: CompiledJoins, version: int) -> DataFrame:
    """One statement over the occurrences of all documents; what it finds is decided exactly."""
    pairs, spark = unpack_joins(joins).pairs, documents.sparkSession
    relations: dict[str, Any] = {name: spark.createDataFrame(table) for name, table in _relations(pairs).items()}
    occurrences = documents.mapInArrow(OccurrenceWorker(joins), _OCCURRENCES)
    reach = str(_reach(pairs))
    candidates = spark.sql(_JOIN, None, occurrences=occurrences, documents=documents, reach=reach, **relations)
    return candidates.mapInArrow(Decide(joins, version, _is_text(documents), is_stream=False), _MESSAGES)


def _relations(pairs: PairJoins) -> dict[str, pa.Table]:
    """What the statement must know about the queries."""
    sizes = Counter(opening for opening, _ in pairs.needs)
    openings = [(opening, sizes[opening], _length(window), strict) for opening, window, strict in pairs.openings]
    kinds = {"opening": pa.int32(), "size": pa.int64(), "length": pa.int64(), "strict": pa.bool_()}
    return {
        "predicates": _table(pairs.predicates, dict.fromkeys(("predicate", "earlier", "later"), pa.int32())),
        "needs": _table(pairs.needs, dict.fromkeys(("opening", "predicate"), pa.int32())),
        "openings": _table(openings, kinds),
    }


def _table(rows: Sequence[tuple[object, ...]], kinds: dict[str, pa.DataType]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table({name: pa.array(column, kinds[name]) for name, column in zip(kinds, columns, strict=True)})


def _reach(pairs: PairJoins) -> int:
    """The longest window, in nanoseconds."""
    return max(_length(window) for _, window, _ in pairs.openings)


def _length(window: int | None) -> int:
    return ANY_LENGTH if window is None else window


def _is_text(documents: DataFrame) -> bool:
    return isinstance(documents.schema["value"].dataType, StringType)


# -- streams


def join_stream(documents: DataFrame, compiled: Compiled, lateness: Span) -> DataFrame:
    """The pairwise queries, by Spark's own join of two streams, which are the same.

    Its state holds the documents that a window can reach.

    Documents have many values in common and are to meet once: at the least token that both have. The condition on
    moments tells Spark when a row is out of reach: as the later one at once, as the earlier one after the window.
    """
    joins = compiled.joins
    assert joins is not None
    # What is as old as the watermark is late for Spark.
    delay = f"{span(lateness, 'lateness') // 1_000_000 + 2} milliseconds"
    earlier, later = (
        documents.mapInArrow(SideWorker(joins, is_later), _SIDE)
        .withWatermark("moment", delay)
        .select(
            *(col(name).alias(f"{side}_{name}") for name in ("key", "tokens", "moment")),
            struct("nanoseconds", "document", "stream", "value").alias(side),
        )
        for side, is_later in (("earlier", False), ("later", True))
    )
    reach = _reach(unpack_joins(joins).pairs) // SECOND + 2
    window = f"later_moment <= earlier_moment + INTERVAL {reach} SECONDS" if reach < _LONGEST else "true"
    common = "array_intersect(earlier_tokens, later_tokens)"
    met = earlier.join(
        later,
        expr(f"""
            earlier_key = later_key AND earlier_moment <= later_moment AND {window}
            AND (earlier.nanoseconds, earlier.document) < (later.nanoseconds, later.document)
            AND array_min({common}).key = earlier_key
        """),
    )
    pairs = met.select(expr(f"{common}.predicate").alias("held"), "earlier", "later")
    return pairs.mapInArrow(Decide(joins, compiled.version, _is_text(documents), is_stream=True), _MESSAGES)
