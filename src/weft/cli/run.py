"""`weft run`: subscriptions and a folder of documents in, folders of messages out, on Spark."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from weft.errors import ConfigurationError

if TYPE_CHECKING:
    from types import FrameType

    from weft.spark.metrics import BatchMetrics, Metrics

_TOP = 10  # subscriptions in the summary


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
    row_tag: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Each element of this name is a document, however large the file."),
    ] = None,
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
    )
    compiled = spark_room.check_job(job, stream)
    log = output / "spark.log"
    try:
        with _endpoint(spark_room, job, metrics_port), spark_room.session(master, settings, log) as spark:
            if stream:
                _run_stream(spark_room, spark, job, available_now)
            else:
                with _bar(spark):
                    spark_room.run_batch(spark, job, compiled)
    except spark_room.SPARK_ERRORS as error:
        raise ConfigurationError(f"{spark_room.first_line(error)} (see {log})") from None
    _tell(job.metrics, output)


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


def _run_stream(spark_room: Any, spark: Any, job: Any, available_now: bool) -> None:
    """Until interrupted, or until all is done."""
    is_over = threading.Event()
    with (
        _interrupts(is_over.set),
        spark_room.run_stream(
            spark,
            job,
            available_now=available_now,
            on_batch=_tell_batch,
            on_refused=lambda error: typer.echo(
                f"weft: new subscriptions refused, the old ones go on:\n{error}", err=True
            ),
        ) as query,
    ):
        typer.echo("weft: streaming; interrupt to stop" if not available_now else "weft: streaming", err=True)
        while not is_over.is_set() and not query.awaitTermination(0.2):
            pass


@contextmanager
def _interrupts(stop: Callable[[], object]) -> Iterator[None]:
    """An interrupt or a polite kill ends the stream between two batches, as it should end."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop()

    kept = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _tell_batch(batch: BatchMetrics) -> None:
    pace = batch.documents / batch.seconds if batch.seconds else 0
    rejected = "" if batch.rejected is None else f" {batch.rejected} rejected,"
    line = f"batch {batch.batch}: {batch.documents} documents,{rejected} {batch.messages} messages"
    typer.echo(f"{line}, {pace:,.0f} documents/s, subscriptions version {batch.version}", err=True)


@contextmanager
def _bar(spark: Any) -> Iterator[None]:
    """The tasks that are done, on a terminal."""
    if not sys.stderr.isatty() or not hasattr(spark, "_jsc"):
        yield
        return
    over = threading.Event()
    columns = (TextColumn("delivering"), BarColumn(), MofNCompleteColumn(), TextColumn("tasks"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("delivering", total=None)

        def poll() -> None:
            tracker = spark.sparkContext.statusTracker()
            while not over.wait(0.3):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                known = [stage for stage in stages if stage is not None]
                if known:
                    done, total = sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)
                    bar.update(task, completed=done, total=total)

        watcher = threading.Thread(target=poll, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _tell(metrics: Metrics, output: Path) -> None:
    """The summary, on standard output."""
    console = Console()
    table = Table(title=Text(f"weft run: {output}"), show_header=False)
    pace = metrics.documents / metrics.seconds if metrics.seconds else 0
    skew = max((batch.skew for batch in metrics.batches if batch.skew is not None), default=None)
    table.add_row("documents", f"{metrics.documents:,}")
    table.add_row("rejected", "not counted" if metrics.rejected is None else f"{metrics.rejected:,}")
    table.add_row("messages", f"{metrics.messages:,}")
    table.add_row("batches", f"{len(metrics.batches):,}")
    table.add_row("documents/s", f"{pace:,.0f}")
    table.add_row("skew", "-" if skew is None else f"{skew:.2f} (fullest partition over the mean)")
    console.print(table)
    if metrics.per_subscription:
        top = Table("subscription", "messages", title="most messages")
        for name, number in metrics.per_subscription.most_common(_TOP):
            top.add_row(Text(name), f"{number:,}")
        console.print(top)
    console.print(f"Next: weft show {output} --subscription ID", highlight=False, markup=False)
