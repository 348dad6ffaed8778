"""`weft run`: subscriptions and a folder of documents in, folders of messages out, on Spark."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.interrupts import Interrupts
from weft.cli.options import LimitSettings, RowTag
from weft.cli.run_report import task_bar, tell_batch, tell_summary
from weft.errors import ConfigurationError


class Mode(StrEnum):
    """What becomes of a document that cannot be read: Spark's words."""

    PERMISSIVE = "PERMISSIVE"
    DROPMALFORMED = "DROPMALFORMED"
    FAILFAST = "FAILFAST"


class Format(StrEnum):
    """How messages are written."""

    parquet = "parquet"
    json = "json"
    files = "files"


def run(
    subscriptions: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Subscriptions: text, JSON Lines, or a folder, as for weft match."),
    ],
    documents: Annotated[
        Path, typer.Option(metavar="PATH", help="A folder of *.xml, *.gz, *.zip and *.tar at any depth, or one file.")
    ],
    output: Annotated[Path, typer.Option(metavar="DIR", help="Where DIR/messages and DIR/rejected are written.")],
    stream: Annotated[bool, typer.Option("--stream", help="Go on with what comes, until interrupted.")] = False,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="With --stream: end when all that is there is done.")
    ] = False,
    format: Annotated[Format, typer.Option(help="Tables of Parquet or JSON, or a file for each message.")] = (
        Format.parquet
    ),
    mode: Annotated[
        Mode, typer.Option(help="Put rejected documents into DIR/rejected, drop them, or end at the first.")
    ] = Mode.PERMISSIVE,
    row_tag: RowTag = None,
    ignore_namespaces: Annotated[bool, typer.Option("--ignore-namespaces", help="Compare local names only.")] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where a stream remembers how far it is; else in the output.")
    ] = None,
    max_files_per_trigger: Annotated[int, typer.Option(min=1, help="Files of one micro-batch, at most.")] = 1000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the messages of an earlier run.")] = False,
    lateness: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="With --stream: how late a document may be, and still be joined."),
    ] = 600.0,
    ahead: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="With --stream: how far ahead of the clock a document that is joined may be.",
        ),
    ] = 86_400.0,
    master: Annotated[str, typer.Option(metavar="URL", help="Where Spark runs.")] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark. Can be repeated.")
    ] = None,
    limit: LimitSettings = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65535, help="Serve counts for Prometheus at 127.0.0.1:PORT/metrics."),
    ] = None,
) -> None:
    """Deliver a folder of documents, or a stream of them, on Spark.

    Each folder right below PATH is a stream of its own name. DIR/messages has a row for each message, DIR/rejected
    for each document that could not be read; look at them with `weft show DIR`, or as tables with any tool.

    \b
      weft run --subscriptions subs.jsonl --documents inbox/ --output out/
      weft run --subscriptions subs.jsonl --documents inbox/ --output out/ --stream
      weft run --subscriptions subs.jsonl --documents dump.xml.gz --row-tag item --output out/ --format files

    A stream can be stopped, or killed, and started again with the same options: every message is there once. A new
    version of the subscriptions takes effect with the next micro-batch (replace the file as a whole); one that is
    wrong is refused, and the old one goes on. Spark's own log is DIR/spark.log.

    XSCL joins documents by the times at which their files were changed last. In a stream the XSCL subscriptions stay
    the same from beginning to end.
    """
    is_done, log = False, output / "spark.log"
    with Interrupts() as interrupts, suppress(KeyboardInterrupt):
        spark_room = load_spark()
        settings = dict(_setting(entry) for entry in conf or [])
        job = spark_room.Job(
            subscriptions,
            documents,
            output,
            mode=mode.value,
            format=format.value,
            row_tag=row_tag,
            ignore_namespaces=ignore_namespaces,
            max_files_per_trigger=max_files_per_trigger,
            checkpoint=checkpoint,
            overwrite=overwrite,
            lateness=lateness,
            ahead=ahead,
            limits=tuple(limit or ()),
        )
        compiled = spark_room.check_job(job, stream)
        told, endpoint = _told(spark_room, log, interrupts), _endpoint(spark_room, job, metrics_port)
        with told, endpoint, spark_room.session(master, settings, log) as spark:
            interrupts.note()  # Spark has put a handler of its own in place
            if stream:
                is_done = _run_stream(spark_room, spark, job, available_now, interrupts)
            else:
                is_done = _run_batch(spark_room, spark, job, compiled, interrupts)
    if not is_done:
        advice = "the same command goes on" if stream else "not finished, the same command begins anew"
        typer.echo(f"weft: interrupted; {output}: {advice}", err=True)
        raise typer.Exit(128 + (interrupts.came or signal.SIGINT))
    tell_summary(job.metrics, output)


@contextmanager
def _told(spark_room: Any, log: Path, interrupts: Interrupts) -> Iterator[None]:
    """What Spark raises becomes one line; after an interrupt it says nothing new."""
    try:
        yield
    except spark_room.SPARK_ERRORS as error:
        if interrupts.came is None:
            raise ConfigurationError(f"{spark_room.first_line(error)} (see {log})") from None


@contextmanager
def _endpoint(spark_room: Any, job: Any, port: int | None) -> Iterator[None]:
    """The counts for Prometheus, while the job runs."""
    server = spark_room.serve_metrics(job.metrics, port) if port is not None else None
    try:
        yield
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()


def load_spark(module: str = "weft.spark") -> Any:
    """Spark is loaded only by the commands that need it: the others are there at once, and work without it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"this command needs Spark ({error}): pip install 'weft[spark]'") from None


def _setting(entry: str) -> tuple[str, str]:
    key, equals, value = entry.partition("=")
    if not equals:
        raise ConfigurationError(f"--conf: expected KEY=VALUE, found {entry!r}")
    return key, value


def _run_batch(spark_room: Any, spark: Any, job: Any, compiled: Any, interrupts: Interrupts) -> bool:
    """Whether it was done; in a thread of its own, so that no interrupt comes in the middle of a call to Spark."""
    with ThreadPoolExecutor(1) as pool, task_bar(spark):
        running = pool.submit(spark_room.run_batch, spark, job, compiled)
        while not wait([running], timeout=0.2).done:
            if interrupts.came is not None:  # again and again: it may just be between two of its jobs
                spark_room.cancel_jobs(spark)
    if interrupts.came is None:
        running.result()
    return running.exception() is None


def _run_stream(spark_room: Any, spark: Any, job: Any, available_now: bool, interrupts: Interrupts) -> bool:
    """Until interrupted, or until all is done; to be interrupted is how a stream ends."""
    with spark_room.run_stream(
        spark,
        job,
        available_now=available_now,
        on_batch=tell_batch,
        on_refused=lambda error: typer.echo(f"weft: new subscriptions refused, the old ones go on:\n{error}", err=True),
    ) as query:
        typer.echo("weft: streaming; interrupt to stop" if not available_now else "weft: streaming", err=True)
        while interrupts.came is None and not query.awaitTermination(0.2):
            pass
    return True
