"""Documents in files in, how fast a stream delivers them out, and how soon after a restart it delivers new ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from bench.contest import DisagreementError
from bench.news import news_queries
from bench.pipeline.documents import write_files
from bench.pipeline.session import Session
from weft.broker.subscriptions import Subscription, write_subscription
from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics
from weft.spark.job import run_stream

SUBSCRIPTIONS = 1_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the stream: its batches as their metrics tell them, and when each was written after the start."""

    seconds: float
    documents: list[int]
    messages: list[int]
    batch_seconds: list[float]
    written: list[float]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A run over all files, and a second one over a few new ones."""

    first: Run
    again: Run

    @property
    def documents_per_second(self) -> float | None:
        """Of the batches after the first, in which workers start and meet most label paths; None without any."""
        run = self.first
        return sum(run.documents[1:]) / sum(run.batch_seconds[1:]) if len(run.documents) > 1 else None

    @property
    def overall(self) -> float:
        """Of the whole run, with the first batch and what lies between batches."""
        return sum(self.first.documents) / self.first.seconds

    @property
    def restart_seconds(self) -> float | None:
        """From the second start until its first batch was written; None if there was no batch."""
        return self.again.written[0] if self.again.written else None

    @property
    def messages_per_document(self) -> float:
        """In the mean."""
        return sum(self.first.messages) / sum(self.first.documents)


def measure_stream(session: Session, folder: Path, documents: list[bytes], new: int, per_trigger: int) -> Streamed:
    """Deliver all documents but the last few, then start again with these; each must be delivered once."""
    queries = news_queries(SUBSCRIPTIONS, predicates=True)
    entries = (Subscription(f"stream-{number}", query) for number, query in enumerate(queries))
    runs = []
    for prefix, part in (("first", documents[:-new]), ("new", documents[-new:])):
        write_files(folder / "documents", part, prefix)
        if prefix == "first":
            (folder / "subscriptions.jsonl").write_text("".join(write_subscription(each) + "\n" for each in entries))
        run = session.do(partial(run_once, folder, per_trigger))
        check_all(run, len(part))
        runs.append(run)
    return Streamed(*runs)


def check_all(run: Run, expected: int) -> None:
    """Raise DisagreementError unless the stream saw every document once."""
    if sum(run.documents) != expected:
        raise DisagreementError(f"the stream delivered {sum(run.documents)} documents, expected {expected}")


def run_once(folder: Path, per_trigger: int, spark: SparkSession) -> Run:
    """Deliver what is there, from where the checkpoint says."""
    job = Job(
        folder / "subscriptions.jsonl", folder / "documents", folder / "output", max_files_per_trigger=per_trigger
    )
    batches: list[BatchMetrics] = []
    written: list[float] = []
    started = perf_counter()

    def note(done: BatchMetrics) -> None:
        written.append(perf_counter() - started)
        batches.append(done)

    with run_stream(spark, job, available_now=True, on_batch=note) as query:
        query.awaitTermination()
    return Run(
        perf_counter() - started,
        [each.documents for each in batches],
        [each.messages for each in batches],
        [each.seconds for each in batches],
        written,
    )
