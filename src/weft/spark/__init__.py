"""DataFrames of XML documents in, DataFrames of messages out, in batch and in streaming: Weft on Spark.

>>> from weft.spark import WeftSource, deliver                          # doctest: +SKIP
>>> spark.dataSource.register(WeftSource)                                # doctest: +SKIP
>>> documents = spark.read.format("weft").load("inbox")                  # doctest: +SKIP
>>> documents.transform(deliver("subscriptions.jsonl")).show()           # doctest: +SKIP
"""

from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics, Metrics, serve_metrics
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.failures import SPARK_ERRORS, first_line
from weft.spark.job import check_job, run_batch, run_stream
from weft.spark.joins import join
from weft.spark.metrics import MetricsListener, observed
from weft.spark.session import cancel_jobs, session, start_session
from weft.spark.source import WeftSource
from weft.spark.transform import deliver, match, messages, rejected

__all__ = [
    "SPARK_ERRORS",
    "BatchMetrics",
    "Compiled",
    "Job",
    "Metrics",
    "MetricsListener",
    "WeftSource",
    "cancel_jobs",
    "check_job",
    "compile_subscriptions",
    "deliver",
    "first_line",
    "join",
    "match",
    "messages",
    "observed",
    "rejected",
    "run_batch",
    "run_stream",
    "serve_metrics",
    "session",
    "start_session",
]
