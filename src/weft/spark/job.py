"""Subscriptions and a folder of documents in, folders of messages and of rejected documents out: the whole job."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Literal

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import element_at, lit, struct
from pyspark.sql.streaming.query import StreamingQuery

from weft.durable import write_atomically
from weft.errors import ConfigurationError
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.joins import LATENESS, documents_of, join, join_stream, with_moments
from weft.spark.joins_gathered import Gathered
from weft.spark.metrics import BatchMetrics, Metrics, batch_metrics, observed
from weft.spark.transform import REJECTED, Mode, Transform, deliver, messages, rejected, rejections
from weft.spark.versions import Compile, Versions
from weft.subscriptions import Subscription

Format = Literal["parquet", "json", "files"]
MESSAGES, RECORDS = "messages", "_weft"
_JOINED = "_weft_joined"
_INTERVAL = "500 milliseconds"  # between two looks for new documents


@dataclass(frozen=True, slots=True)
class Job:
    """What `weft run` is told; option names are Spark's where Spark has one."""

    subscriptions: Path
    documents: Path
    output: Path
    mode: Mode = "PERMISSIVE"
    format: Format = "parquet"
    row_tag: str | None = None
    ignore_namespaces: bool = False
    max_files_per_trigger: int = 1000
    checkpoint: Path | None = None
    overwrite: bool = False
    lateness: float = LATENESS
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def checkpoint_folder(self) -> Path:
        """Where a stream remembers how far it is."""
        return (self.checkpoint or self.output / "checkpoint").absolute()


def check_job(job: Job, is_stream: bool) -> Compiled | None:
    """Raise ConfigurationError for what can be seen to be wrong before Spark is started, which takes seconds.

    For a batch the compiled subscriptions come back, so that they are compiled once.
    """
    if not job.documents.exists():
        raise ConfigurationError(f"{job.documents}: no such file or folder of documents")
    if not job.output.is_dir():
        try:
            job.output.mkdir(parents=True)
        except OSError as error:
            raise ConfigurationError(f"{job.output}: cannot write there: {error.strerror}") from None
    if not os.access(job.output, os.W_OK):
        raise ConfigurationError(f"{job.output}: cannot write there: Permission denied")
    if is_stream:
        with _alone(job.checkpoint_folder / "weft"):
            return None
    return _compile(job, job.subscriptions, 1)


def run_batch(spark: SparkSession, job: Job, compiled: Compiled | None = None) -> BatchMetrics:
    """Read all documents, write all messages, and tell what there was."""
    compiled = compiled or _compile(job, job.subscriptions, 1)
    _claim_output(job, None)
    source = spark.read.format("weft")
    frame = (source.option("rowTag", job.row_tag) if job.row_tag else source).load(str(job.documents.absolute()))
    return _run(frame, 0, job, compiled, None if compiled.joins is None else _joined(frame, compiled))


@contextmanager
def run_stream(
    spark: SparkSession,
    job: Job,
    *,
    available_now: bool = False,
    on_batch: Callable[[BatchMetrics], object] = lambda _: None,
    on_refused: Callable[[ConfigurationError], object] = lambda _: None,
) -> Iterator[StreamingQuery]:
    """Deliver the documents that are there and those that come; the query runs while the context is open.

    Each micro-batch is written under its number, so that one that runs again after a crash replaces what it wrote
    before: every message is there once. `on_refused` gets the errors of a new version of the subscription file that
    cannot be read, or that changes XSCL: the state of joins is made for the subscriptions it began with.
    """
    folder = job.checkpoint_folder
    with _alone(folder / "weft"):
        _claim_output(job, _identity(folder))
        versions = Versions(job.subscriptions, folder / "weft", _stream_compiler(job), on_refused)
        first = versions.check()

        joins = first.joins
        gathered = Gathered(first, folder / "weft", job.lateness) if joins is not None and joins.gathered else None

        def run(frame: DataFrame, batch: int) -> None:
            compiled = versions.for_batch(batch)
            if joins is None:
                on_batch(_run(frame, batch, job, compiled))
            else:
                on_batch(_run_with_joins(frame, batch, job, compiled, gathered))

        source = spark.readStream.format("weft").option("maxFilesPerTrigger", job.max_files_per_trigger)
        source = source.option("log", str(folder / "weft" / "arrivals.jsonl"))
        stream = (source.option("rowTag", job.row_tag) if job.row_tag else source).load(str(job.documents.absolute()))
        if joins is not None and joins.pairwise:
            made = with_moments(join_stream(documents_of(stream), first, job.lateness))
            stream = _beside(stream, made)
        writer = stream.writeStream.foreachBatch(run).option("checkpointLocation", str(folder))
        # Without an interval an idle stream would look through the folder all the time.
        writer = writer.trigger(availableNow=True) if available_now else writer.trigger(processingTime=_INTERVAL)
        query = writer.start()
        try:
            yield query
        finally:
            query.stop()


def _compile(job: Job, subscriptions: Path | list[Subscription], version: int) -> Compiled:
    return compile_subscriptions(subscriptions, ignore_namespaces=job.ignore_namespaces, version=version)


def _stream_compiler(job: Job) -> Compile:
    """Compiles the versions of a stream; all must have the same XSCL."""
    known: list[str | None] = []

    def compile(subscriptions: Path | list[Subscription], version: int) -> Compiled:
        compiled = _compile(job, subscriptions, version)
        identity = None if compiled.joins is None else compiled.joins.identity
        known.append(identity)
        if identity != known[0]:
            raise ConfigurationError(
                f"{job.subscriptions}: the XSCL subscriptions of a stream cannot change, for its state is made for "
                "them; put them back, or begin with another --checkpoint and --output"
            )
        return compiled

    return compile


# -- joins


def _joined(frame: DataFrame, compiled: Compiled) -> DataFrame:
    """The messages of XSCL in a batch, with the columns of the others."""
    return _with_document(frame.transform(join(compiled)))


def _with_document(messages: DataFrame) -> DataFrame:
    """Messages of XSCL with the column that others have: the last of their documents."""
    return messages.withColumn("document", element_at("documents", -1))


def _beside(documents: DataFrame, joined: DataFrame) -> DataFrame:
    """Documents and the messages that joins made of them as one stream, so that one batch number is for both."""
    return documents.unionByName(joined.select(struct("*").alias(_JOINED)), allowMissingColumns=True)


def _run_with_joins(
    frame: DataFrame, batch: int, job: Job, compiled: Compiled, gathered: Gathered | None
) -> BatchMetrics:
    """One batch of a stream with joins: those that Spark has made, and those that are made of the batch here."""
    started = time.monotonic()
    frame.persist()
    try:
        frame.count()  # the state changes here, once, whatever is asked of the frame then
        documents, parts = frame, []
        if _JOINED in frame.columns:
            parts.append(frame.where(f"{_JOINED} IS NOT NULL").select(f"{_JOINED}.*"))
            documents = frame.where(f"{_JOINED} IS NULL").drop(_JOINED)
        if gathered is not None:
            parts.append(gathered.messages(batch, documents_of(documents)))
        joined = _with_document(reduce(DataFrame.unionByName, parts)).withColumn("version", lit(compiled.version))
        return _run(documents, batch, job, compiled, joined, started)
    finally:
        frame.unpersist()


# -- a batch


def _run(
    frame: DataFrame,
    batch: int,
    job: Job,
    compiled: Compiled,
    joined: DataFrame | None = None,
    started: float | None = None,
) -> BatchMetrics:
    """One batch: the messages in one pass; only if documents were rejected a second, cheap one for them."""
    started = time.monotonic() if started is None else started
    documents, found = Observation(), Observation()
    compiled = compiled.without_joins()
    work = _and(deliver(compiled, mode=job.mode), joined)
    out = frame.transform(observed(work, documents, found))
    _write(messages(out), job, MESSAGES, batch)
    seen = found.get
    if seen.get("rejected"):
        bad = frame.transform(rejections(compiled))
        added = ("subscription", "destination", "message", "position", "version")
        _write(bad.drop(*added) if job.format == "files" else rejected(bad), job, REJECTED, batch)
    done = batch_metrics(batch, documents.get, seen, time.monotonic() - started, compiled.version)
    job.metrics.record(done)
    return done


def _and(work: Transform, joined: DataFrame | None) -> Transform:
    if joined is None:
        return work
    return lambda frame: work(frame).unionByName(joined, allowMissingColumns=True)


def _write(frame: DataFrame, job: Job, name: str, batch: int) -> None:
    folder = job.output.absolute() / name
    if job.format == "files":
        frame.write.format("weft").mode("append").option("batchId", str(batch)).save(str(folder))
    else:
        frame.write.format(job.format).mode("overwrite").save(str(folder / f"batch={batch}"))


def _claim_output(job: Job, identity: str | None) -> None:
    """The output must be new, or of the same stream: batch numbers of another one would replace its messages."""
    record = job.output / RECORDS / "job.json"
    try:
        (job.output / RECORDS).mkdir(parents=True, exist_ok=True)
        known = json.loads(record.read_text()) if record.exists() else None
        if known is not None and identity is not None and known["stream"] == identity:
            _check_goes_on(job, known["format"])
        elif known is not None:
            if not job.overwrite:
                advice = "choose another, or --overwrite" + ("" if identity is None else ", or its own --checkpoint")
                raise ConfigurationError(f"{job.output}: has the messages of another run already; {advice}")
            for name in (MESSAGES, REJECTED):
                shutil.rmtree(job.output / name, ignore_errors=True)
        write_atomically(record, json.dumps({"stream": identity, "format": job.format}))
    except OSError as error:
        raise ConfigurationError(f"{job.output}: cannot write there: {error.strerror}") from None


def _check_goes_on(job: Job, format: str) -> None:
    """A stream goes on where it was, and as it was."""
    if job.overwrite:
        advice = f"to begin anew, remove {job.checkpoint_folder}"
        raise ConfigurationError(f"{job.output}: the stream goes on from its checkpoint, not --overwrite; {advice}")
    if job.format != format:
        raise ConfigurationError(f"{job.output}: expected --format {format}, as before, found {job.format}")


def _identity(folder: Path) -> str:
    """The name of a checkpoint, which its output must have too."""
    file = folder / "weft" / "identity"
    if not file.exists():
        write_atomically(file, uuid.uuid4().hex)
    return file.read_text()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the checkpoint's lock; it is let go when the process ends, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ConfigurationError(f"{folder.parent}: cannot write the checkpoint: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise ConfigurationError(f"{folder.parent}: another run is using this checkpoint") from None
    finally:
        os.close(lock)
