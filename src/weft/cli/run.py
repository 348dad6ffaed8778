"""`weft run`: subscriptions and a folder of documents in, folders of messages out, on Spark."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.event_time import DocumentId, SchemaFile, Timestamp
from weft.cli.interrupts import Interrupts
from weft.cli.logs import tell
from weft.cli.options import LimitSettings, Namespaces, RowTag, naming
from weft.cli.places import DeadLetters, From, Jars, KafkaOptions, Output, To, ViewsOfRecords, read_places
from weft.cli.run_report import tell_summary
from weft.delivery.job import AHEAD, LATENESS, Job
from weft.delivery.output import Format, Mode
from weft.errors import ConfigurationError
from weft.optimizer.adapting import Retrieval


# Long: nearly all of it is options and the text of --help.
def run(
    subscriptions: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Subscriptions: text, JSON Lines, or a folder, as for weft match."),
    ],
    documents: From,
    output: Output = None,
    to: To = None,
    stream: Annotated[bool, typer.Option("--stream", help="Go on with what comes, until interrupted.")] = False,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="With --stream: end when all that is there is done.")
    ] = False,
    format: Annotated[
        Format, typer.Option(help="Tables of Parquet, JSON or Delta, or a file for each message.")
    ] = "parquet",
    mode: Annotated[
        Mode,
        typer.Option(
            case_sensitive=False, help="Put rejected documents into DIR/rejected, drop them, or end at the first."
        ),
    ] = "PERMISSIVE",
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
    ] = LATENESS,
    ahead: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="With --stream: how far ahead of the clock a document that is joined may be.",
        ),
    ] = AHEAD,
    optimizer: Annotated[
        Retrieval,
        typer.Option(
            help="Let that part bring conditions up which costs least in the documents that come, or by kind."
        ),
    ] = "greedy",
    master: Annotated[str, typer.Option(metavar="URL", help="Where Spark runs.")] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark. Can be repeated.")
    ] = None,
    limit: LimitSettings = None,
    dead_letters: DeadLetters = None,
    option: KafkaOptions = None,
    jars: Jars = None,
    views: ViewsOfRecords = None,
    namespace: Namespaces = None,
    timestamp: Timestamp = None,
    id: DocumentId = None,
    schema: SchemaFile = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65535, help="Serve counts for Prometheus at 127.0.0.1:PORT/metrics."),
    ] = None,
) -> None:
    """Deliver a folder of documents, a topic of Kafka, or a stream of them, on Spark.

    Each folder right below PATH is a stream of its own name. DIR/messages has a row for each message, DIR/rejected
    for each document that could not be read; look at them with `weft show DIR`, or as tables with any tool.

    \b
      weft run --subscriptions subs.jsonl --documents inbox/ --output out/
      weft run --subscriptions subs.jsonl --documents inbox/ --output out/ --stream
      weft run --subscriptions subs.jsonl --documents dump.xml.gz --row-tag item --output out/ --format files
      weft run --subscriptions subs.jsonl --from kafka://host:9092/orders --to kafka://host:9092/alerts --stream

    A stream can be stopped, or killed, and started again with the same options: every message is there once. A new
    version of the subscriptions takes effect with the next micro-batch (replace the file as a whole); one that is
    wrong is refused, and the old one goes on. Spark's own log is DIR/spark.log.

    With --to kafka://… each message is a record that has its id in the header weft-message-id; a stream that was killed
    may send some again, and whoever reads them tells them by this id. Rejected documents go to TOPIC.rejected.

    XSCL joins documents by the times at which their files were changed last, or those that --timestamp tells.
    """
    places = read_places(documents, output, to, dead_letters, option)
    job = Job(
        subscriptions,
        places.documents,
        places.output,
        mode=mode,
        format=format,
        row_tag=row_tag,
        ignore_namespaces=ignore_namespaces,
        max_files_per_trigger=max_files_per_trigger,
        checkpoint=checkpoint,
        overwrite=overwrite,
        lateness=lateness,
        ahead=ahead,
        optimizer=optimizer,
        limits=tuple(limit or ()),
        target=places.target,
        dead_letters=places.dead_letters,
        views=views,
        namespaces=naming(namespace, ignore_namespaces).namespaces,
        timestamp=timestamp,
        id=id,
        schema=schema,
    )
    settings = dict(_setting(entry) for entry in conf or [])
    _run(job, stream, available_now, master, settings, jars, metrics_port)


def _run(
    job: Job,
    stream: bool,
    available_now: bool,
    master: str,
    conf: Mapping[str, str],
    jars: str | None,
    metrics_port: int | None,
) -> None:
    """Run a job to its end and tell what it did, or that it was interrupted."""
    is_done = False
    tell(f"weft: compiling {job.subscriptions}", subscriptions=str(job.subscriptions))
    with Interrupts() as interrupts, suppress(KeyboardInterrupt):
        try:
            # Here, not above: the other commands are there at once, and work without Spark.
            from weft.cli.run_on_spark import run_on_spark  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"this command needs Spark (no module {error.name}): pip install 'weft[spark]'"
            ) from None
        is_done = run_on_spark(
            job,
            interrupts,
            stream=stream,
            available_now=available_now,
            master=master,
            conf=conf,
            jars=jars,
            metrics_port=metrics_port,
        )
    if not is_done:
        advice = "the same command goes on" if stream else "not finished, the same command begins anew"
        typer.echo(f"weft: interrupted; {job.output}: {advice}", err=True)
        raise typer.Exit(128 + (interrupts.came or signal.SIGINT))
    tell_summary(job.metrics, job.output, job.target)


def _setting(entry: str) -> tuple[str, str]:
    key, equals, value = entry.partition("=")
    if not equals:
        raise ConfigurationError(f"--conf: expected KEY=VALUE, found {entry!r}")
    return key, value
