"""What a job reads and what it writes: a folder or topics in, DataFrames out; messages into a folder or a topic."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pyspark.sql import DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql.functions import coalesce, col, count_if, lit, octet_length
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.storagelevel import StorageLevel

from weft.delivery.job import Job
from weft.delivery.outbox import Outbox
from weft.delivery.output import MESSAGES, REJECTED
from weft.delivery.topics import Topics
from weft.errors import ConfigurationError
from weft.spark.kafka_admin import check_topics, make_topics
from weft.spark.older import has_sources, needed
from weft.spark.records import fitting, from_records, is_absent, to_dead_letters, to_records
from weft.spark.tables import write_batch
from weft.spark.transform import Transform

_OLDER = "spark.sql.sources.useV1SourceList"
AnyReader = TypeVar("AnyReader", DataFrameReader, DataStreamReader)


def check_places(job: Job) -> None:
    """Raise ConfigurationError for documents or an output that are not there."""
    if isinstance(job.documents, Path) and not job.documents.exists():
        raise ConfigurationError(f"{job.documents}: no such file or folder of documents")
    if not job.output.is_dir():
        try:
            job.output.mkdir(parents=True)
        except OSError as error:
            raise ConfigurationError(f"{job.output}: cannot write there: {error.strerror}") from None
    if not os.access(job.output, os.W_OK):
        raise ConfigurationError(f"{job.output}: cannot write there: Permission denied")


def read_batch(spark: SparkSession, job: Job) -> DataFrame:
    """All documents. Of topics a copy on local disks: they grow, and a batch asks more than once."""
    _prepare_topics(spark, job)
    if isinstance(job.documents, Topics):
        return _records(spark.read, job.documents, job).persist(StorageLevel.DISK_ONLY)
    _check_sources(spark)
    return _of_documents(spark.read.format("weft"), job).load(str(job.documents.absolute()))


def read_stream(spark: SparkSession, job: Job) -> DataFrame:
    """The documents as they come."""
    _prepare_topics(spark, job)
    if isinstance(job.documents, Topics):
        return _records(spark.readStream, job.documents, job)
    _check_sources(spark)
    source = spark.readStream.format("weft").option("maxFilesPerTrigger", job.max_files_per_trigger)
    source = source.option("log", str(job.checkpoint_folder / "weft" / "arrivals.jsonl"))
    return _of_documents(source, job).load(str(job.documents.absolute()))


def _prepare_topics(spark: SparkSession, job: Job) -> None:
    """Documents must have a topic to come from; those that messages go to are made."""
    if isinstance(job.documents, Topics):
        check_topics(spark, job.documents)
    if job.target is not None:
        make_topics(spark, job.target, (job.target.names[0], job.dead_letter_topic))


def _check_sources(spark: SparkSession) -> None:
    if not has_sources(spark):
        raise needed("reading folders", "4.0", "read kafka://…, or give deliver() a frame of your own")


def _of_documents(reader: AnyReader, job: Job) -> AnyReader:
    """A reader with the options that say what a document is."""
    reader = reader.option("limits", ",".join(job.limits))
    return reader.option("rowTag", job.row_tag) if job.row_tag else reader


def _records(reader: DataFrameReader | DataStreamReader, topics: Topics, job: Job) -> DataFrame:
    options = {**topics.reading_options, "includeHeaders": "true"}
    return reader.format("kafka").options(**options).load().transform(from_records(views=job.views is not None))


class Absent:
    """The records of a batch that have no document: tombstones and empty values, counted and left out."""

    def __init__(self, job: Job) -> None:
        self._observed = Observation() if isinstance(job.documents, Topics) else None

    def counted(self, frame: DataFrame) -> DataFrame:
        """The documents of a frame; a job on the result counts what was left out."""
        if self._observed is None:
            return frame
        empty = coalesce(octet_length("value") == 0, lit(False))
        counts = count_if(col("value").isNull()).alias("tombstones"), count_if(empty).alias("empty")
        return frame.observe(self._observed, *counts).where(~is_absent())

    def left_out(self, frame: DataFrame) -> DataFrame:
        """The documents of a frame."""
        return frame if self._observed is None else frame.where(~is_absent())

    @property
    def counts(self) -> tuple[int, int]:
        """How many tombstones and empty values there were, after the job."""
        found = {} if self._observed is None else self._observed.get
        return found.get("tombstones", 0), found.get("empty", 0)


def as_sent(job: Job, work: Transform) -> Transform:
    """A transform of `deliver`, whose messages can be written where the job writes them."""
    return work if job.target is None else fitting(job.target.largest, job.mode, work)


def write(frame: DataFrame, job: Job, name: str, batch: int) -> None:
    """Write the messages or the rejected documents of a batch: once; to a topic with ids that tell what came before."""
    frame = frame if job.views is None else frame.drop("header")
    if job.target is not None:
        _send(frame, job, job.target, name)
    else:
        write_batch(frame, job, name, batch)


def take_back(job: Job, batch: int) -> None:
    """Tables are written over; files are delivered once, unless they are taken back."""
    if job.format == "files" and job.target is None:
        for name in (MESSAGES, REJECTED):
            Outbox(job.output.absolute() / name).take_back(batch)


def _send(frame: DataFrame, job: Job, target: Topics, name: str) -> None:
    is_message = name == MESSAGES
    records = frame.transform(to_records() if is_message else to_dead_letters(target.largest))
    topic = target.names[0] if is_message else job.dead_letter_topic
    writer = records.write.format("kafka").mode("append").options(**target.client_options)
    with _newer_interface(frame.sparkSession):
        writer.option("topic", topic).save()


@contextmanager
def _newer_interface(spark: SparkSession) -> Iterator[None]:
    """Through its older interface Spark's sink writes as well, but what is observed there is never told."""
    older = spark.conf.get(_OLDER) or ""
    spark.conf.set(_OLDER, ",".join(name for name in older.split(",") if name != "kafka"))
    try:
        yield
    finally:
        spark.conf.set(_OLDER, older)
