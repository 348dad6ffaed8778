"""Options in, a Spark session out that fits this process; what stands in its way is told in one line."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark.sql import SparkSession

from weft.errors import ConfigurationError
from weft.spark.connector import unresolved
from weft.spark.failures import SPARK_ERRORS, first_line
from weft.spark.older import register
from weft.spark.source import WeftSource

#: What a small machine needs; whoever gives a value for one of these is obeyed.
DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (  # the state of joins: on disk, not on the heap
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",  # a batch writes what it changed
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",  # without documents joins have nothing to say
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",  # small batches overlap: the JVM writes while Python works
}
LOCAL = "local[*]"
_TAIL = 20_000  # characters of a log


def start_session(master: str = LOCAL, conf: Mapping[str, str] | None = None, log: Path | None = None) -> SparkSession:
    """A session with the data source `weft`, local unless `master` says otherwise; `sc://…` is Spark Connect.

    With `log` whatever Spark's own processes write to standard error goes there, and what its gateway logs here.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must have what this process has
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    is_remote = master.startswith("sc:")
    if not is_remote:
        _check_java()
    builder = SparkSession.builder.remote(master) if is_remote else SparkSession.builder.master(master)
    for key, value in {**DEFAULTS, **(conf or {})}.items():
        builder = builder.config(key, value)
    try:
        with _standard_error(log):
            spark = builder.appName("weft").getOrCreate()
        register(spark, WeftSource)
    except (*SPARK_ERRORS, RuntimeError) as error:
        if log is not None and (told := unresolved(log.read_text(errors="replace")[-_TAIL:])) is not None:
            raise ConfigurationError(f"Spark did not start on {master}: {told} (see {log})") from None
        raise ConfigurationError(f"Spark did not start on {master}: {first_line(error)}") from None
    return spark


@contextmanager
def session(
    master: str = LOCAL, conf: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[SparkSession]:
    """The session that is running, or else a new one that ends with the context."""
    running = SparkSession.getActiveSession()
    spark = running or start_session(master, conf, log)
    try:
        yield spark
    finally:
        if running is None:
            with suppress(Exception):  # what it was doing has been told, or is over
                spark.stop()


def cancel_jobs(spark: SparkSession) -> None:
    """End what a session is doing just now; whoever waits for it gets an error."""
    with suppress(*SPARK_ERRORS):
        if hasattr(spark, "_jsc"):
            spark.sparkContext.cancelAllJobs()
        else:
            spark.interruptAll()


def running_tasks(spark: SparkSession) -> tuple[int, int] | None:
    """How many tasks of the stages that run just now are done, and how many there are; None where nobody can tell."""
    if not hasattr(spark, "_jsc"):
        return None  # Spark Connect
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]
    return (sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)) if known else None


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if not home else shutil.which(str(Path(home) / "bin" / "java"))
    if java is None:
        where = f"JAVA_HOME is {home}, and there is no bin/java in it" if home else "none is on the PATH"
        raise ConfigurationError(f"Spark needs Java 17 or newer: {where}; install one, or set JAVA_HOME")


class _Log(logging.FileHandler):
    """A log that cannot be written stops nobody: where the output is full, that is told anyway."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing."""


@contextmanager
def _standard_error(log: Path | None) -> Iterator[None]:
    """Processes that start meanwhile have the log as their standard error."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    gateway = logging.getLogger("py4j")
    gateway.addHandler(_Log(log, delay=True))
    gateway.propagate = False
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
