"""A network in, its run or its simulation on Spark out: the part of `weft network` that needs Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from weft.cli.interrupts import Interrupts
from weft.delivery.topics import check_answers
from weft.errors import ConfigurationError
from weft.network.report import Report
from weft.network.topology import Topology
from weft.spark import SPARK_ERRORS, first_line, session
from weft.spark.connector import connector_settings
from weft.spark.network import NetworkJob, check_network, run_network_once, run_network_stream
from weft.spark.network_simulate import simulate_on_spark

_PAUSE = 0.1  # seconds between two looks for an interrupt


def run_network(job: NetworkJob, interrupts: Interrupts, *, stream: bool, master: str, jars: str | None = None) -> None:
    """Run a network until all is done, or as a stream until it is interrupted."""
    check_network(job)
    log = job.output / "spark.log"
    if job.links is not None and not master.startswith("sc:"):
        check_answers(job.links)
    conf = connector_settings(jars, {}, job.links is not None)
    with _told(log), session(master, conf, log) as spark:
        if not stream:
            run_network_once(spark, job)
            return
        interrupts.note()  # Spark has put a handler of its own in place
        with run_network_stream(spark, job) as queries:
            typer.echo("weft: streaming; interrupt to stop", err=True)
            while interrupts.came is None and all(query.isActive for query in queries):
                time.sleep(_PAUSE)
            for query in queries:
                if interrupts.came is None and not query.isActive:
                    query.awaitTermination()  # raises what ended it


def simulate_network(
    topology: Topology, documents: Path, row_tag: str | None, limits: tuple[str, ...], master: str
) -> Report:
    """Simulate a network, its servers divided among Spark's tasks."""
    if not documents.exists():
        raise ConfigurationError(f"{documents}: no such file or folder of documents")
    with TemporaryDirectory() as folder:
        log = Path(folder) / "spark.log"
        with _told(log), session(master, {}, log) as spark:
            reader = spark.read.format("weft").option("limits", ",".join(limits))
            reader = reader.option("rowTag", row_tag) if row_tag is not None else reader
            frame = reader.load(str(documents.absolute()))
            return simulate_on_spark(spark, topology, frame, limits=limits)


@contextmanager
def _told(log: Path) -> Iterator[None]:
    """What Spark raises becomes one line."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise ConfigurationError(f"{first_line(error)} (see {log})") from None
