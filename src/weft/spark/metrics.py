"""What Spark observed of each batch in, counts per batch and per subscription out; a listener, and Prometheus' text."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql.functions import col, count, count_if, expr, lit, spark_partition_id
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from weft.spark.transform import REJECTED, Transform, quoted_column

_PARTITION = "_weft_partition"
_TOP = "approx_top_k({}, {}, {})"  # the first so many, and exact while there are fewer than so many values
_SUBSCRIPTIONS, _PARTITIONS = (1_000, 100_000), (1_000, 10_000)
_KEPT = 1_000  # batches


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """What one batch brought. `per_subscription` has the thousand subscriptions with the most messages."""

    batch: int
    documents: int
    rejected: int | None  # unknown where they are dropped
    messages: int
    seconds: float
    version: int | None = None
    per_subscription: Mapping[str, int] = field(default_factory=dict)
    per_partition: Mapping[int, int] = field(default_factory=dict)

    @property
    def skew(self) -> float | None:
        """How many times more documents the fullest partition had than the mean."""
        counts = list(self.per_partition.values())
        return max(counts) * len(counts) / sum(counts) if counts else None


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
        top = _TOP.format(_PARTITION, *_PARTITIONS)
        numbered = frame.withColumn(_PARTITION, spark_partition_id())
        counted = numbered.observe(documents, count(lit(1)).alias("documents"), expr(top).alias("partitions"))
        out = transform(counted.drop(_PARTITION))
        top = _TOP.format("if(message IS NULL, NULL, subscription)", *_SUBSCRIPTIONS)
        aggregates = [count(col("message")).alias("messages"), expr(top).alias("top")]
        if columnNameOfCorruptRecord in out.columns:
            bad = quoted_column(columnNameOfCorruptRecord).isNotNull()
            aggregates.append(count_if(bad).alias("rejected"))
            aggregates.append(count_if(bad & col("subscription").isNotNull()).alias("refused"))  # messages alone
        return out.observe(messages, *aggregates)

    return counting


def batch_metrics(
    batch: int, documents: Mapping[str, Any], messages: Mapping[str, Any], seconds: float, version: int | None = None
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
    )


class Metrics:
    """The counts of a job: all in all, and of the latest thousand batches. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.batches: deque[BatchMetrics] = deque(maxlen=_KEPT)
        self.documents = self.messages = 0
        self.rejected: int | None = None
        self._last: dict[str, int] = {}  # by stream
        self.seconds = 0.0
        self.per_subscription: Counter[str] = Counter()

    def record(self, batch: BatchMetrics, stream: str = "") -> None:
        """Add a batch of a stream; one that was told before is taken once."""
        with self._lock:
            if batch.batch <= self._last.get(stream, -1):
                return
            self._last[stream] = batch.batch
            self.batches.append(batch)
            self.documents += batch.documents
            if batch.rejected is not None:
                self.rejected = (self.rejected or 0) + batch.rejected
            self.messages += batch.messages
            self.seconds += batch.seconds
            self.per_subscription.update(batch.per_subscription)

    def prometheus(self) -> str:
        """All counts in Prometheus' text format."""
        with self._lock:
            last = self.batches[-1] if self.batches else None
            lines = [
                "# TYPE weft_documents_total counter",
                f"weft_documents_total {self.documents}",
                "# TYPE weft_rejected_total counter",
                f"weft_rejected_total {self.rejected or 0}",
                "# TYPE weft_messages_total counter",
                f"weft_messages_total {self.messages}",
                "# TYPE weft_seconds_total counter",
                f"weft_seconds_total {self.seconds:.3f}",
                "# TYPE weft_batch gauge",
                f"weft_batch {last.batch if last else -1}",
            ]
            if last and last.version is not None:
                lines += ["# TYPE weft_subscriptions_version gauge", f"weft_subscriptions_version {last.version}"]
            lines.append("# TYPE weft_subscription_messages_total counter")
            for name, number in self.per_subscription.most_common(_SUBSCRIPTIONS[0]):
                escaped = name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
                lines.append(f'weft_subscription_messages_total{{subscription="{escaped}"}} {number}')
            return "\n".join(lines) + "\n"


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


def serve_metrics(metrics: Metrics, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """Prometheus' text at `http://127.0.0.1:port/metrics`, until `shutdown()`; port 0 takes a free one."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.prometheus().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """The endpoint is quiet."""

    server = ThreadingHTTPServer((host, port), Page)
    threading.Thread(target=server.serve_forever, name="weft-metrics", daemon=True).start()
    return server
