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
from weft.spark.headers import with_headers
from weft.spark.job import check_job, run_batch, run_stream
from weft.spark.joins import join
from weft.spark.metrics import MetricsListener, observed
from weft.spark.session import cancel_jobs, session, start_session
from weft.spark.source import WeftSource
from weft.spark.transform import deliver, match, messages, rejected
from weft.spark.views_answers import SparkViews, UnansweredError, views
from weft.spark.views_documents import materialize_views, recommend_views, select_nodes
from weft.spark.views_folder import PartFolder, SparkManifest

__all__ = [
    "SPARK_ERRORS",
    "BatchMetrics",
    "Compiled",
    "Job",
    "Metrics",
    "MetricsListener",
    "PartFolder",
    "SparkManifest",
    "SparkViews",
    "UnansweredError",
    "WeftSource",
    "cancel_jobs",
    "check_job",
    "compile_subscriptions",
    "deliver",
    "first_line",
    "join",
    "match",
    "materialize_views",
    "messages",
    "observed",
    "recommend_views",
    "rejected",
    "run_batch",
    "run_stream",
    "select_nodes",
    "serve_metrics",
    "session",
    "start_session",
    "views",
    "with_headers",
]
