"""What Spark observed of each batch in, counts per batch and per subscription out; a listener for streams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql.functions import col, count, count_if, expr, lit, spark_partition_id
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from weft.delivery.metrics import TOP, BatchMetrics, Metrics
from weft.delivery.output import REJECTED
from weft.spark.older import version_of
from weft.spark.transform import Transform, quoted_column

_PARTITION = "_weft_partition"
_TOP = "approx_top_k({}, {}, {})"  # the first so many, and exact while there are fewer than so many values
# Reasons without what differs from document to document: numbers, and what was found.
_REASON = "trim(regexp_replace(regexp_extract(`{}`.error, '^[^:\"\\']*', 0), '[0-9]+', 'N'))"
_SUBSCRIPTIONS, _PARTITIONS = (TOP, 100_000), (1_000, 10_000)


def observed(
    transform: Transform,
    documents: str | Observation = "weft_documents",
    messages: str | Observation = "weft_messages",
    columnNameOfCorruptRecord: str = REJECTED,
) -> Transform:
    """A transform of `deliver` that also counts: documents by partition, messages by subscription, rejected.

    On a stream the counts are in the `observedMetrics` of each progress, where a `MetricsListener` finds them.
    """

    def counting(frame: DataFrame) -> DataFrame:
        top = _top(frame, _PARTITION, *_PARTITIONS)
        numbered = frame.withColumn(_PARTITION, spark_partition_id())
        counted = numbered.observe(documents, count(lit(1)).alias("documents"), expr(top).alias("partitions"))
        out = transform(counted.drop(_PARTITION))
        top = _top(frame, "if(message IS NULL, NULL, subscription)", *_SUBSCRIPTIONS)
        aggregates = [count(col("message")).alias("messages"), expr(top).alias("top")]
        if columnNameOfCorruptRecord in out.columns:
            bad = quoted_column(columnNameOfCorruptRecord).isNotNull()
            aggregates.append(count_if(bad).alias("rejected"))
            reasons = expr(_TOP.format(_REASON.format(columnNameOfCorruptRecord.replace("`", "``")), 100, 10_000))
            aggregates.append(reasons.alias("reasons"))
            aggregates.append(count_if(bad & col("subscription").isNotNull()).alias("refused"))  # messages alone
        return out.observe(messages, *aggregates)

    return counting


def batch_metrics(
    batch: int,
    documents: Mapping[str, Any],
    messages: Mapping[str, Any],
    seconds: float,
    version: int | None = None,
    stages: Mapping[str, float] | None = None,
) -> BatchMetrics:
    """The two observations of a batch as one."""
    return BatchMetrics(
        batch,
        documents["documents"],
        messages.get("rejected"),
        messages["messages"],
        seconds,
        version,
        {row["item"]: row["count"] for row in messages["top"] or () if row["item"] is not None},
        {row["item"]: row["count"] for row in documents["partitions"] or ()},
        {row["item"]: row["count"] for row in messages.get("reasons") or () if row["item"] is not None},
        stages or {},
    )


def _top(frame: DataFrame, value: str, *bounds: int) -> str:
    """The most frequent values; nothing where Spark cannot count them in a stream."""
    return _TOP.format(value, *bounds) if version_of(frame.sparkSession.version) >= (4, 1) else "NULL"


def observe_progress(metrics: Metrics, progress: Any) -> None:
    """Put down what a stream told last: how many files wait, what joins hold, and what came too late for them."""
    if progress is None:
        return
    sources = [(_files(each.endOffset), _files(each.latestOffset)) for each in progress.sources]
    known = [latest - end for end, latest in sources if end is not None and latest is not None]
    states = progress.stateOperators
    held = {
        "rows": float(sum(each.numRowsTotal for each in states)),
        "bytes": float(sum(each.memoryUsedBytes for each in states)),
    }
    late = sum(each.numRowsDroppedByWatermark for each in states)
    metrics.observe(progress.batchId, lag=sum(known) if known else None, late=late, join_state=held)


def _files(offset: str | None) -> int | None:
    """The number of files of an offset of the source `weft`."""
    try:
        found = json.loads(offset or "null")
    except ValueError:
        return None
    return found.get("files") if isinstance(found, dict) else None


class MetricsListener(StreamingQueryListener):
    """`spark.streams.addListener(MetricsListener(metrics))`: the counts of streams whose transform is `observed`."""

    def __init__(self, metrics: Metrics, documents: str = "weft_documents", messages: str = "weft_messages") -> None:
        self._metrics, self._names = metrics, (documents, messages)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing to count yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Record a batch, if it has our observations."""
        progress = event.progress
        found = [progress.observedMetrics.get(name) for name in self._names]
        if found[0] is not None and found[1] is not None and progress.numInputRows:
            documents, messages = (row.asDict() for row in found if row is not None)
            seconds = progress.batchDuration / 1000
            self._metrics.record(batch_metrics(progress.batchId, documents, messages, seconds), str(progress.runId))

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """What was counted stays."""
