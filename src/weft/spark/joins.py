"""Subscriptions in, a function for `DataFrame.transform` out: documents become messages of what XSCL joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, GroupedData, SparkSession
from pyspark.sql.functions import (
    col,
    concat,
    count,
    expr,
    lit,
    raise_error,
    translate,
    when,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import NumericType

from weft.delivery.job import AHEAD, LATENESS
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.moment import Span, span
from weft.documents.schema import Schema
from weft.errors import ConfigurationError
from weft.joins.compile.queries import ANY_LENGTH
from weft.joins.pairs import PairJoins
from weft.spark.admitted import admitting
from weft.spark.compiled import Compiled, Subscriptions, unpack_joins
from weft.spark.joins_documents import documents_of, furthest, is_ahead
from weft.spark.joins_plans import CompiledJoins
from weft.spark.joins_shards import MOST_SHARDS, Route, routed_schema
from weft.spark.joins_state import ShardProcessor
from weft.spark.joins_worker import (
    MESSAGES,
    OCCURRENCES,
    REPEATED,
    SEPARATOR,
    Decide,
    Gather,
    OccurrenceWorker,
    Together,
    Touched,
)
from weft.spark.older import needed, version_of
from weft.spark.session import DEFAULTS
from weft.spark.shard_keys import shard_keys
from weft.spark.transform import Transform, as_compiled

_MESSAGES, _OCCURRENCES = (from_arrow_schema(schema) for schema in (MESSAGES, OCCURRENCES))

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
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
    namespaces: Mapping[str, str] | None = None,
    schema: str | Path | Schema | None = None,
) -> Transform:
    """Make messages of documents that belong together: `frame.transform(join("subscriptions.jsonl"))`.

    `column` has the documents as string or binary, `timestamp` when each came: a Spark timestamp, or a number of
    seconds; or it is a path to where documents have their time, such as "//CreDtTm", or "clock"; `id` may be one too.
    If the frame has a column named by `stream`, it says which stream a document is of. `id` is the column, or the
    columns, that tell the documents of one stream apart: of Kafka, `stream="topic", id=["partition", "offset"]`. What
    has no time where one is expected, and what is not valid by a `schema`, takes no part (`deliver` tells which).
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

    In a stream Spark keeps the state, in shards, as many as `spark.sql.shuffle.partitions` says when it begins.
    `lateness` is how many seconds, or a timedelta, a document may be behind the latest one that came before; messages
    of the second kind wait so long. One that comes later still is not joined, nor is one that is dated more than
    `ahead` after the clock, for all others would be late then. A stream may be stopped and go on from its checkpoint
    with other subscriptions: those that are new see the documents from then on.
    """
    compiled = as_compiled(subscriptions, ignoreNamespace, limits, dtd, version, namespaces=namespaces)
    admit = admitting(compiled.rules, column, id, stream, timestamp, schema, limits, namespaces, ignoreNamespace)
    if compiled.joins is None:
        raise ConfigurationError("join: expected XSCL subscriptions, found none; the others are for weft.spark.deliver")
    span(lateness, "lateness")  # raises if it is none
    furthest(ahead)

    def transform(frame: DataFrame) -> DataFrame:
        if version_of() < (4, 0):
            raise needed("joining documents", "4.0", "use weft.Broker in one process")
        frame, names = admit(frame), (column, admit.id, stream, admit.timestamp)
        documents = documents_of(frame, *names)
        if frame.isStreaming:
            documents = documents_of(frame.where(~is_ahead(frame, admit.timestamp, ahead)), *names)
            made = join_stream(documents, compiled, lateness)
        else:
            made = _batch(documents, compiled)
        is_number = isinstance(frame.schema[admit.timestamp].dataType, NumericType)
        return with_seconds(made) if is_number else with_moments(made)

    return transform


def with_moments(messages: DataFrame) -> DataFrame:
    """Messages with Spark's timestamps instead of nanoseconds."""
    return messages.withColumn("timestamp", expr("timestamp_micros(timestamp div 1000)"))


def with_seconds(messages: DataFrame) -> DataFrame:
    """Messages with seconds instead of nanoseconds; those that a document was dated come back as they were."""
    return messages.withColumn("timestamp", expr("(timestamp div 1000) / 1e6D"))


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


def join_light(documents: DataFrame, compiled: Compiled) -> DataFrame:
    """All queries by one task, which has all documents: few jobs, and no more work than to read them."""
    assert compiled.joins is not None
    ordered = documents.repartition(1).sortWithinPartitions("nanoseconds", "arrival")
    return ordered.mapInArrow(Together(Gather(compiled, compiled.joins)), _MESSAGES)


def _refuse_repeated(documents: DataFrame) -> DataFrame:
    """No messages, but an error if two documents are called alike: one would be taken for the other."""
    number = documents.groupBy("document").agg(count(lit(1)).alias("number"))
    before, _, after = REPEATED.partition("{}")
    told = concat(lit(before), translate("document", SEPARATOR, "/"), lit(after))
    repeated = number.where(when(col("number") > 1, raise_error(told)).isNotNull())
    return repeated.select(*(lit(None).cast(field.dataType).alias(field.name) for field in _MESSAGES))


def _pairs(documents: DataFrame, joins: CompiledJoins, version: int) -> DataFrame:
    """One statement over the occurrences of all documents; what it finds is decided exactly."""
    pairs, spark = unpack_joins(joins).pairs, documents.sparkSession
    relations: dict[str, Any] = {name: spark.createDataFrame(table) for name, table in _relations(pairs).items()}
    occurrences = documents.mapInArrow(OccurrenceWorker(joins), _OCCURRENCES)
    reach = str(_reach(pairs))
    candidates = spark.sql(_JOIN, None, occurrences=occurrences, documents=documents, reach=reach, **relations)
    return candidates.mapInArrow(Decide(joins, version), _MESSAGES)


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


# -- streams


def join_stream(documents: DataFrame, compiled: Compiled, lateness: Span) -> DataFrame:
    """All queries, by shards whose state Spark keeps; there are as many as partitions when the stream begins."""
    joins, spark = compiled.joins, documents.sparkSession
    assert joins is not None
    _check_state(spark)
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    keys = tuple(shard_keys(partitions, MOST_SHARDS))
    schema = routed_schema(to_arrow_schema(documents.schema, timezone="UTC"))
    routed = documents.mapInArrow(Route(joins, keys, schema), from_arrow_schema(schema))
    processor = ShardProcessor(compiled, keys, span(lateness, "lateness"))
    return routed.groupBy("shard").transformWithState(processor, _MESSAGES, "append", "none")


def _check_state(spark: SparkSession) -> None:
    """Raise ConfigurationError where Spark cannot keep the state of joins."""
    if not hasattr(GroupedData, "transformWithState"):
        raise ConfigurationError(f"joins in a stream: expected PySpark 4.1 or newer, found {spark.version}")
    provider = spark.conf.get(_PROVIDER) or ""
    if "RocksDB" not in provider:
        raise ConfigurationError(
            f"{_PROVIDER}: expected {DEFAULTS[_PROVIDER]}, as start_session has it, found {provider}"
        )
