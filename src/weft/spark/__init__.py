"""DataFrames of XML documents in, DataFrames of messages out, in batch and in streaming: Weft on Spark.

>>> from weft.spark import WeftSource, deliver                          # doctest: +SKIP
>>> spark.dataSource.register(WeftSource)                                # doctest: +SKIP
>>> documents = spark.read.format("weft").load("inbox")                  # doctest: +SKIP
>>> documents.transform(deliver("subscriptions.jsonl")).show()           # doctest: +SKIP
"""

from typing import TYPE_CHECKING

try:
    import pyarrow  # noqa: F401
    import pyspark  # noqa: F401
except ModuleNotFoundError as error:
    told = f"weft.spark needs {error.name}, which is not installed: pip install 'weft[spark]'"
    raise ModuleNotFoundError(told, name=error.name) from None

from weft.spark.failures import SPARK_ERRORS, first_line
from weft.spark.pandas_free import hide_pandas
from weft.spark.session import cancel_jobs, session, start_session
from weft.spark.source import WeftSource

if TYPE_CHECKING:
    from weft.delivery.job import Job
    from weft.delivery.metrics import BatchMetrics, Metrics
    from weft.delivery.prometheus import serve_metrics
    from weft.spark.compiled import Compiled, compile_subscriptions
    from weft.spark.deduplicating import deduplicate
    from weft.spark.delivering import deliver
    from weft.spark.headers import with_headers
    from weft.spark.job import check_job, run_batch, run_stream
    from weft.spark.joins import join
    from weft.spark.metrics import MetricsListener, observed
    from weft.spark.record_headers import from_record_headers, to_record_headers
    from weft.spark.records import from_records, to_dead_letters, to_records
    from weft.spark.transform import match, messages, rejected
    from weft.spark.views_answers import SparkViews, UnansweredError, views
    from weft.spark.views_documents import materialize_views, recommend_views, select_nodes
    from weft.spark.views_folder import PartFolder, SparkManifest
    from weft.spark.views_source import TableSource

hide_pandas()

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
    "TableSource",
    "UnansweredError",
    "WeftSource",
    "cancel_jobs",
    "check_job",
    "compile_subscriptions",
    "deduplicate",
    "deliver",
    "first_line",
    "from_record_headers",
    "from_records",
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
    "to_dead_letters",
    "to_record_headers",
    "to_records",
    "views",
    "with_headers",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """What is asked for is loaded then: a worker, of which there are many, needs the source alone to begin."""
        match name:
            case "Job":
                from weft.delivery import job as home  # noqa: PLC0415
            case "BatchMetrics" | "Metrics":
                from weft.delivery import metrics as home  # noqa: PLC0415
            case "serve_metrics":
                from weft.delivery import prometheus as home  # noqa: PLC0415
            case "Compiled" | "compile_subscriptions":
                from weft.spark import compiled as home  # noqa: PLC0415
            case "deduplicate":
                from weft.spark import deduplicating as home  # noqa: PLC0415
            case "with_headers":
                from weft.spark import headers as home  # noqa: PLC0415
            case "check_job" | "run_batch" | "run_stream":
                from weft.spark import job as home  # noqa: PLC0415
            case "join":
                from weft.spark import joins as home  # noqa: PLC0415
            case "MetricsListener" | "observed":
                from weft.spark import metrics as home  # noqa: PLC0415
            case "from_record_headers" | "to_record_headers":
                from weft.spark import record_headers as home  # noqa: PLC0415
            case "from_records" | "to_dead_letters" | "to_records":
                from weft.spark import records as home  # noqa: PLC0415
            case "deliver":
                from weft.spark import delivering as home  # noqa: PLC0415
            case "match" | "messages" | "rejected":
                from weft.spark import transform as home  # noqa: PLC0415
            case "SparkViews" | "UnansweredError" | "views":
                from weft.spark import views_answers as home  # noqa: PLC0415
            case "materialize_views" | "recommend_views" | "select_nodes":
                from weft.spark import views_documents as home  # noqa: PLC0415
            case "PartFolder" | "SparkManifest":
                from weft.spark import views_folder as home  # noqa: PLC0415
            case "TableSource":
                from weft.spark import views_source as home  # noqa: PLC0415
            case _:
                raise AttributeError(f"module 'weft.spark' has no attribute {name!r}")
        return getattr(home, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
