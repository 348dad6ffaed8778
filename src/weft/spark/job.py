"""Subscriptions and a folder of documents in, folders of messages and of rejected documents out: the whole job."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import bit_xor, coalesce, col, count_if, element_at, lit, struct, when, xxhash64
from pyspark.sql.streaming.query import StreamingQuery

from weft.broker.stream_rules import load_stream_rules
from weft.broker.subscriptions import Subscription
from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics
from weft.delivery.output import MESSAGES, RECORDS, REJECTED, Record, alone, claim, finish, name_of_checkpoint
from weft.documents.document import read_limits
from weft.errors import ConfigurationError
from weft.inputs.weight import is_light
from weft.spark.admitted import admitting_of
from weft.spark.choices import Choices
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.job_places import Absent, as_sent, check_places, read_batch, read_stream, take_back, write
from weft.spark.joins import join, join_light, join_stream, with_moments
from weft.spark.joins_documents import documents_of, is_ahead
from weft.spark.metrics import batch_metrics, observed
from weft.spark.restarts import RestartingQuery
from weft.spark.stream_versions import StreamVersions, plan_key
from weft.spark.tables import check_format, finish_batch
from weft.spark.transform import Transform, deliver_single, messages, rejected, rejections
from weft.spark.versions import Versions

_LOG = logging.getLogger(__name__)
_JOINED, _AHEAD = "_weft_joined", "_weft_ahead"
_IN_USE, _IN_WORK = "another run is using this checkpoint", "another run is writing there"
_ATTEMPTS = 3  # to read documents that change meanwhile
_LIGHT = 16 * 1024 * 1024  # bytes that one task may read
_INTERVAL = "500 milliseconds"  # between two looks for new documents


def check_job(job: Job, is_stream: bool) -> Compiled | None:
    """Raise ConfigurationError for what can be seen to be wrong before Spark is started, which takes seconds.

    For a batch the compiled subscriptions come back, so that they are compiled once.
    """
    check_places(job)
    admitting_of(job, load_stream_rules(job.subscriptions))
    check_format(job)
    if is_stream:
        with alone(job.checkpoint_folder / "weft", _IN_USE):
            return None
    with alone(job.output / RECORDS, _IN_WORK):
        pass
    return _compile(job, job.subscriptions, 1)


def run_batch(spark: SparkSession, job: Job, compiled: Compiled | None = None) -> BatchMetrics:
    """Read all documents, write all messages, and tell what there was."""
    compiled = compiled or _compile(job, job.subscriptions, 1)
    record = Record(None, job.written)
    with alone(job.output / RECORDS, _IN_WORK):
        claim(job.output, record, overwrite=job.overwrite, checkpoint=job.checkpoint_folder)
        spark.createDataFrame([], "nothing int")  # the session is this thread's own now: there Spark looks for sinks
        source = read_batch(spark, job)
        frame = source.transform(admitting_of(job, compiled.rules))
        done = _run(frame, 0, job, compiled, None if compiled.joins is None else _joined(frame, compiled, job))
        finish(job.output, record)
        source.unpersist()
    return done


# Long: one context that holds the lock, the versions and the query, from the first to the last line.
@contextmanager
def run_stream(
    spark: SparkSession,
    job: Job,
    *,
    available_now: bool = False,
    on_batch: Callable[[BatchMetrics], object] = lambda _: None,
    on_refused: Callable[[ConfigurationError], object] = lambda _: None,
) -> Iterator[RestartingQuery]:
    """Deliver the documents that are there and those that come; the query runs while the context is open.

    Each micro-batch is written under its number, so that one that runs again after a crash replaces what it wrote
    before: every message is there once. `on_refused` gets the errors of a new version of the subscription file that
    cannot be read, or that the stream's state cannot serve.
    """
    folder = job.checkpoint_folder
    with alone(folder / "weft", _IN_USE):
        record = Record(name_of_checkpoint(folder), job.written)
        claim(job.output, record, overwrite=job.overwrite, checkpoint=folder)
        compiler = StreamVersions(job.subscriptions, folder, partial(_compile, job))
        versions = Versions(job.subscriptions, folder / "weft", compiler.compile, on_refused)
        versions.check()
        choices = Choices(spark)

        def start() -> StreamingQuery:
            planned = versions.current()

            def run(frame: DataFrame, batch: int) -> None:
                version = versions.for_batch(batch)
                if plan_key(version) != plan_key(planned):
                    raise query.again()
                compiled = choices.before_batch(version)
                if planned.joins is None:
                    on_batch(_run(frame, batch, job, compiled))
                else:
                    on_batch(_run_with_joins(frame, batch, job, compiled))

            stream = read_stream(spark, job).transform(admitting_of(job, load_stream_rules(job.subscriptions)))
            if planned.joins is not None:  # here, so that a batch that runs again has the clock that it had
                stream = stream.withColumn(_AHEAD, coalesce(is_ahead(stream, "timestamp", job.ahead), lit(False)))
                made = with_moments(join_stream(documents_of(_dated_well(stream)), planned, job.lateness))
                stream = _beside(stream, made)
            writer = stream.writeStream.foreachBatch(run).option("checkpointLocation", str(folder))
            # Without an interval an idle stream would look through the folder all the time.
            writer = writer.trigger(availableNow=True) if available_now else writer.trigger(processingTime=_INTERVAL)
            return writer.start()

        query = RestartingQuery(start)
        query.begin()
        try:
            yield query
        finally:
            query.stop()


def _compile(job: Job, subscriptions: Path | list[Subscription], version: int) -> Compiled:
    limits = read_limits(job.limits)
    return compile_subscriptions(
        subscriptions,
        ignore_namespaces=job.ignore_namespaces,
        limits=limits,
        version=version,
        optimizer=job.optimizer,
        headers=job.views or (),
        namespaces=job.namespaces,
    )


# -- joins


def _joined(frame: DataFrame, compiled: Compiled, job: Job) -> DataFrame:
    """The messages of XSCL in a batch, with the columns of the others: by one task if it could read all documents."""
    if isinstance(job.documents, Path) and is_light(job.documents, _LIGHT):
        return _with_document(with_moments(join_light(documents_of(frame), compiled)))
    return _with_document(frame.transform(join(compiled)))


def _with_document(messages: DataFrame) -> DataFrame:
    """Messages of XSCL with the column that others have: the last of their documents."""
    return messages.withColumn("document", element_at("documents", -1))


def _beside(documents: DataFrame, joined: DataFrame) -> DataFrame:
    """Documents and the messages that joins made of them as one stream, so that one batch number is for both."""
    return documents.unionByName(joined.select(struct("*").alias(_JOINED)), allowMissingColumns=True)


def _dated_well(documents: DataFrame) -> DataFrame:
    return documents.where(f"NOT {_AHEAD}")


def _dated_ahead(documents: DataFrame, job: Job) -> DataFrame:
    """The documents that are not joined because of their date, as rows of `deliver` that are rejected."""
    reason = f"dated more than {job.ahead:g} seconds ahead of the clock: not joined"
    record = struct(
        lit(reason).alias("error"), lit(1).alias("line"), lit(1).alias("column"), col("value").alias("source")
    )
    rows = documents.where(col(_AHEAD) & col("value").isNotNull())
    if job.mode == "FAILFAST" and (first := rows.select("document").first()) is not None:
        raise ConfigurationError(f"{first.document}: {reason}")
    return rows.select("document", "stream", "timestamp", record.alias(REJECTED))


def _run_with_joins(frame: DataFrame, batch: int, job: Job, compiled: Compiled) -> BatchMetrics:
    """One batch of a stream with joins, which Spark has made."""
    started = time.monotonic()
    frame.persist()
    try:
        frame.count()  # the state changes here, once, whatever is asked of the frame then
        joined = _with_document(frame.where(f"{_JOINED} IS NOT NULL").select(f"{_JOINED}.*"))
        joined = joined.withColumn("version", lit(compiled.version))
        documents = frame.where(f"{_JOINED} IS NULL").drop(_JOINED)
        refused = _dated_ahead(documents, job)
        return _run(documents.drop(_AHEAD), batch, job, compiled, joined, refused, started)
    finally:
        frame.unpersist()


# -- a batch


def _run(
    frame: DataFrame,
    batch: int,
    job: Job,
    compiled: Compiled,
    joined: DataFrame | None = None,
    refused: DataFrame | None = None,
    started: float | None = None,
) -> BatchMetrics:
    """One batch: the messages in one pass; only if documents were rejected a second, cheap one for them.

    If the second finds others than the first, documents have changed meanwhile, and both begin again.
    """
    started = time.monotonic() if started is None else started
    compiled = compiled.without_joins()
    refused = refused if job.mode == "PERMISSIVE" else None
    for _ in range(_ATTEMPTS):
        documents, found, rejects, absent = Observation(), Observation(), Observation(), Absent(job)
        work = as_sent(job, _and(deliver_single(compiled, mode=job.mode), joined, refused))
        out = absent.counted(frame).transform(observed(work, documents, found))
        write(messages(_marked(out, rejects)), job, MESSAGES, batch)
        seen = found.get
        again = deliver_single(compiled) if seen.get("refused") else rejections(compiled)  # the second need not match
        large = joined if job.target is not None and seen.get("refused") else None  # a folder takes all that joins make
        again = as_sent(job, _and(again, refused, large))
        if not seen.get("rejected") or _write_rejected(absent.left_out(frame), batch, job, again) == rejects.get:
            break
        take_back(job, batch)
    else:
        raise ConfigurationError(f"{job.documents}: documents change while they are read; write them elsewhere first")
    delivered = time.monotonic()
    finish_batch(job, batch)
    ended = time.monotonic()
    stages = {"deliver": delivered - started, "commit": ended - delivered}
    done = batch_metrics(batch, documents.get, seen, ended - started, compiled.version, stages)
    done = replace(done, tombstones=absent.counts[0], empty=absent.counts[1])
    job.metrics.record(done)
    _LOG.debug("batch %d: %d documents, %d messages in %.3f s", batch, done.documents, done.messages, done.seconds)
    return done


def _and(work: Transform, *others: DataFrame | None) -> Transform:
    parts = [other for other in others if other is not None]
    return lambda frame: reduce(lambda made, part: made.unionByName(part, allowMissingColumns=True), parts, work(frame))


def _marked(out: DataFrame, rejects: Observation) -> DataFrame:
    """Rows of `deliver`, observed by what changes when other documents are rejected."""
    if REJECTED not in out.columns:
        return out
    bad = col(REJECTED).isNotNull()
    return out.observe(
        rejects, count_if(bad).alias("number"), bit_xor(when(bad, xxhash64("document"))).alias("documents")
    )


def _write_rejected(frame: DataFrame, batch: int, job: Job, work: Transform) -> dict[str, Any]:
    """Write the rejected documents, and tell what was observed of them."""
    rejects = Observation()
    bad = _marked(frame.transform(work), rejects).where(col(REJECTED).isNotNull())
    added = ("destination", "message", "position", "version")
    write(bad.drop(*added) if job.format == "files" else rejected(bad), job, REJECTED, batch)
    return rejects.get
