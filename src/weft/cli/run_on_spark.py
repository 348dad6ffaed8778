"""A job in, its messages delivered out: the part of `weft run` that needs Spark, and that no other command loads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from weft.cli.interrupts import Interrupts
from weft.cli.logs import tell
from weft.cli.run_report import task_bar, tell_batch
from weft.delivery.formats import prometheus
from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics, Metrics
from weft.delivery.status import StatusFile
from weft.delivery.topics import Topics, check_answers
from weft.errors import ConfigurationError
from weft.spark import SPARK_ERRORS, cancel_jobs, check_job, first_line, run_batch, run_stream, session
from weft.spark.connector import connector_settings
from weft.spark.metrics import observe_progress
from weft.spark.pandas_free import WITHOUT_PANDAS
from weft.spark.session import running_tasks

_PAUSE = 0.2  # seconds between two looks for an interrupt


def run_on_spark(
    job: Job,
    interrupts: Interrupts,
    *,
    stream: bool,
    available_now: bool,
    master: str,
    conf: Mapping[str, str],
    jars: str | None,
    metrics_port: int | None,
) -> bool:
    """Whether the job was done; a stream is, however it ends."""
    compiled = check_job(job, stream)
    log, settings = job.output / "spark.log", _settings(job, master, conf, jars)
    number = "" if compiled is None else f" for {compiled.count:,} subscriptions"
    tell(f"weft: starting Spark on {master}{number}; its log is {log}", master=master)
    with (
        following(job, stream, interrupts) as status,
        _told(log, interrupts),
        _endpoint(job.metrics, metrics_port),
        session(master, settings, log) as spark,
    ):
        interrupts.note()  # Spark has put a handler of its own in place
        status.tell("running")
        tell(f"weft: Spark {spark.version} is there; reading {job.documents}", spark=spark.version)
        if not stream:
            with task_bar(partial(running_tasks, spark)):
                done = _finish(partial(run_batch, spark, job, compiled), partial(cancel_jobs, spark), interrupts)
            status.add_all(job.metrics.batches)
            return done
        on_batch = partial(_end_batch, status)
        with run_stream(spark, job, available_now=available_now, on_batch=on_batch, on_refused=_tell_refused) as query:
            tell("weft: streaming" if available_now else "weft: streaming; interrupt to stop")
            while interrupts.came is None and query.isActive:
                time.sleep(_PAUSE)
                observe_progress(job.metrics, query.lastProgress)
            if interrupts.came is None:
                query.awaitTermination()  # raises what ended it
        return True
    return False  # interrupted, and told by Spark as an error


def _settings(job: Job, master: str, conf: Mapping[str, str], jars: str | None) -> Mapping[str, str]:
    """The settings of Spark, with its connector where the job needs one; raises if nobody answers for its topics."""
    topics = [each for each in (job.documents, job.target) if isinstance(each, Topics)]
    if not master.startswith("sc:"):  # there it is the server that must reach them
        for each in topics:
            check_answers(each)
        conf = connector_settings(jars, conf, bool(topics))
    return {**WITHOUT_PANDAS, **conf}


def _finish(work: Callable[[], BatchMetrics], cancel: Callable[[], None], interrupts: Interrupts) -> bool:
    """Whether it was done; in a thread of its own, so that no interrupt comes in the middle of a call to Spark."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work)
        while not wait([running], timeout=_PAUSE).done:
            if interrupts.came is not None:  # again and again: it may just be between two of its jobs
                cancel()
    if interrupts.came is None:
        running.result()
    return running.exception() is None


def _end_batch(status: StatusFile, batch: BatchMetrics) -> None:
    status.add(batch)
    tell_batch(batch)


def _tell_refused(error: ConfigurationError) -> None:
    tell(f"weft: new subscriptions refused, the old ones go on:\n{error}")


@contextmanager
def following(job: Job, is_stream: bool, interrupts: Interrupts) -> Iterator[StatusFile]:
    """The status of a job, from its start to its end, however it ends."""
    status = StatusFile(job, is_stream)
    try:
        yield status
    except (Exception, KeyboardInterrupt) as error:
        came = isinstance(error, KeyboardInterrupt) or interrupts.came is not None
        status.tell("interrupted" if came else "failed", None if came else str(error))
        raise
    status.tell("interrupted" if interrupts.came is not None else "done")


@contextmanager
def _told(log: Path, interrupts: Interrupts) -> Iterator[None]:
    """What Spark raises becomes one line; after an interrupt it says nothing new."""
    try:
        yield
    except SPARK_ERRORS as error:
        if interrupts.came is None:
            raise ConfigurationError(f"{first_line(error)} (see {log})") from None


@contextmanager
def _endpoint(metrics: Metrics, port: int | None) -> Iterator[None]:
    """The counts for Prometheus, while the job runs."""
    server = prometheus().serve_metrics(metrics, port) if port is not None else None
    try:
        yield
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
