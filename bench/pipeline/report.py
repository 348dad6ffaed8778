"""What the pipeline experiment found in, its figures, tables, notes and panel out."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

from bench.goals import Goal, goals_table
from bench.pipeline.cores import SUBSCRIPTIONS, CoresRound, overhead_us, scaling
from bench.pipeline.kafka import KafkaRun
from bench.pipeline.session import PARTITIONS
from bench.pipeline.sizes import SizePoint
from bench.pipeline.stream import SUBSCRIPTIONS as STREAM_SUBSCRIPTIONS
from bench.pipeline.stream import Streamed
from bench.pipeline.xpath import EXPRESSIONS, Beside
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import compact, short

SIZES = (10, 100, 1_000, 10_000, 100_000)
_OF_A_SIZE = (
    "documents_per_second_match",
    "documents_per_second_deliver",
    "compile_seconds",
    "unpack_seconds",
)
#: The figures of a full run. A quick one has them for the sizes that it gets to, and None for the others.
KEYS = (
    "speedup_vs_spark_xpath_100",
    "speedup_vs_spark_xpath_100_predicates",
    "spark_overhead_us",
    "scaling_1_to_2",
    "stream_documents_per_second",
    "restart_seconds",
    "kafka_documents_per_second",
    "local_cluster_over_local",
    *(f"{key}_{short(size)}" for key in (*_OF_A_SIZE, "plan_bytes") for size in SIZES),
)
_GOALS = {
    "speedup_vs_spark_xpath_100": Goal("times as fast as xpath_boolean, paths only", least=150),
    "speedup_vs_spark_xpath_100_predicates": Goal("the same with predicates", least=80),
    "spark_overhead_us": Goal("over the engine alone, µs per document", most=40),
    "scaling_1_to_2": Goal("times as fast with two cores as with one", least=1.4),
    "stream_documents_per_second": Goal("stream, documents a second after the first batch"),
    "stream_documents_per_second_overall": Goal("stream, documents a second of the whole run"),
    "restart_seconds": Goal("restart of the stream until new files are delivered, s"),
    "kafka_documents_per_second": Goal("stream from topic to topic, documents a second after the first batch"),
    "local_cluster_over_local": Goal("two executors over two threads, seconds"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """All that was measured."""

    rounds: list[CoresRound]
    beside: list[Beside]
    points: list[SizePoint]
    streamed: Streamed
    per_trigger: int
    kafka: KafkaRun
    cluster: float


def make_report(found: Found) -> Report:
    """All that one run gives."""
    figures = _figures(found)
    tables = (
        goals_table(_GOALS, figures),
        _beside_table(found),
        _cores_table(found),
        _sizes_table(found),
        _stream_table(found),
    )
    return Report(figures, tables, (*_notes(found),), (_panel(found.points),))


def _figures(found: Found) -> dict[str, Figure]:
    streamed = found.streamed
    measured: dict[str, float | None] = {
        "spark_overhead_us": overhead_us(found.rounds),
        "scaling_1_to_2": scaling(found.rounds),
        "stream_documents_per_second": streamed.documents_per_second,
        "stream_documents_per_second_overall": streamed.overall,
        "stream_messages_per_document": streamed.messages_per_document,
        "restart_seconds": streamed.restart_seconds,
        "kafka_documents_per_second": found.kafka.documents_per_second,
        "local_cluster_over_local": found.cluster,
    }
    for one in found.beside:
        end = f"{EXPRESSIONS}{'_predicates' if one.predicates else ''}"
        measured[f"speedup_vs_spark_xpath_{end}"] = one.speedup
        measured[f"xpath_documents_per_second_{end}"] = median(one.spark)
        measured[f"documents_per_second_beside_xpath_{end}"] = median(one.weft)
    for who in ("engine", "one_core", "two_cores"):
        times = (1e6 * getattr(each, who) / each.documents for each in found.rounds)
        measured[f"us_per_document_{who}"] = median(times)
    for point in found.points:
        values = point.match, point.deliver, point.compile_seconds, point.unpack_seconds
        for key, value in zip(_OF_A_SIZE, values, strict=True):
            measured[f"{key}_{short(point.subscriptions)}"] = value
    rounded = {key: None if value is None else float(f"{value:.4g}") for key, value in measured.items()}
    return dict.fromkeys(KEYS) | rounded | _counts(found)


def _counts(found: Found) -> dict[str, Figure]:
    plans: dict[str, Figure] = {f"plan_bytes_{short(point.subscriptions)}": point.plan_bytes for point in found.points}
    return plans | {
        "batch_documents": found.rounds[0].documents,
        "rounds": len(found.rounds),
        "xpath_documents": found.beside[0].spark_documents,
        "stream_files": sum(found.streamed.first.documents),
        "cores": os.cpu_count(),
    }


def _beside_table(found: Found) -> Table:
    columns = (
        "expressions",
        "Spark documents/s",
        "Weft documents/s",
        "×",
        "matched",
        "Spark documents",
        "Weft documents",
    )
    rows = tuple(
        (
            f"{EXPRESSIONS} {'with predicates' if one.predicates else 'paths only'}",
            compact(median(one.spark)),
            compact(median(one.weft)),
            compact(one.speedup),
            compact(one.matched),
            f"{one.spark_documents:,}",
            f"{one.weft_documents:,}",
        )
        for one in found.beside
    )
    return Table("Beside Spark's xpath_boolean, two cores", columns, rows)


def _cores_table(found: Found) -> Table:
    columns = ("round", "documents", "engine alone µs", "one core µs", "two cores µs", "overhead µs", "× second core")
    rows = []
    for number, one in enumerate(found.rounds, start=1):
        times = (1e6 * seconds / one.documents for seconds in (one.engine, one.one_core, one.two_cores))
        cells = (*map(compact, times), compact(one.overhead_us), compact(one.scaling))
        rows.append((str(number), f"{one.documents:,}", *cells))
    return Table(f"What Spark costs, {SUBSCRIPTIONS} paths, µs per document", columns, tuple(rows))


def _sizes_table(found: Found) -> Table:
    rates = ("subscriptions", "match documents/s", "deliver documents/s", "documents")
    columns = (*rates, "plan bytes", "compile s", "unpack s")
    rows = tuple(
        (
            f"{point.subscriptions:,}",
            compact(point.match),
            compact(point.deliver),
            f"{point.documents:,}",
            f"{point.plan_bytes:,}",
            compact(point.compile_seconds),
            compact(point.unpack_seconds),
        )
        for point in found.points
    )
    return Table("Throughput on two cores, subscriptions with predicates", columns, rows)


def _stream_table(found: Found) -> Table:
    run = found.streamed.first
    rows = tuple(
        (str(number), f"{documents:,}", f"{messages:,}", compact(seconds), compact(documents / seconds), compact(at))
        for number, (documents, messages, seconds, at) in enumerate(
            zip(run.documents, run.messages, run.batch_seconds, run.written, strict=True)
        )
    )
    columns = ("batch", "documents", "messages", "seconds", "documents/s", "written after s")
    return Table(f"A stream with {STREAM_SUBSCRIPTIONS:,} subscriptions, two cores", columns, rows)


def _notes(found: Found) -> Iterator[str]:
    yield f"Times are on the clock, to Spark's sink noop, from documents in memory in {PARTITIONS} partitions."
    one = found.beside[0]
    yield (
        f"xpath_boolean was timed on {one.spark_documents:,} documents and Weft on {one.weft_documents:,}: rates are "
        "compared. Before, both found as many matches for each expression on the same sample."
    )
    yield (
        f"The overhead and the second core: medians of {len(found.rounds)} rounds, each on documents that were new "
        "to all."
    )
    new = sum(found.streamed.again.documents)
    yield (
        f"The stream read {found.per_trigger:,} files a batch and wrote Parquet; after the restart it found {new} "
        "new files."
    )
    if found.kafka.missing is not None:
        yield f"kafka_documents_per_second was not measured: {found.kafka.missing}"
    packages = ", ".join(f"{package} {version(package)}" for package in ("pyspark", "pyarrow", "numpy"))
    yield f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores."


def _panel(points: list[SizePoint]) -> Panel:
    curves = (
        Curve("match", tuple((point.subscriptions, point.match) for point in points)),
        Curve("deliver", tuple((point.subscriptions, point.deliver) for point in points)),
    )
    return Panel("Weft on Spark, two cores", "subscriptions", "documents per second", curves)
