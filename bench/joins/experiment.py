"""How much the joins experiment measures, and in which order: an effort in, a report out."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.progress import Progress

from bench.joins.curves import CurvesEffort, measure_curves
from bench.joins.feed import FeedEffort, measure_feed, measure_memory
from bench.joins.report import Found, make_report
from bench.joins.spark import measure_spark
from bench.joins.spark_state import measure_state
from bench.joins.technical import TechnicalEffort, measure_technical
from bench.report import Report


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    technical: TechnicalEffort = field(default_factory=TechnicalEffort)
    feed: FeedEffort = field(default_factory=FeedEffort)
    curves: CurvesEffort = field(default_factory=CurvesEffort)
    spark_items: int = 5_000  # 0: Spark is left out
    spark_state: tuple[int, ...] = (10_000, 100_000)  # documents held by a stream; none: it is left out


FULL = Effort()
QUICK = Effort(
    TechnicalEffort(queries=(100, 1_000), leaves=(4, 6), most=(2,), zipf=(0.8,), pairs=1, sampled=4),
    FeedEffort(sizes=(1_000, 10_000, 100_000), state=5_000, batches=3, sampled=5, memory_queries=1_000),
    CurvesEffort(distinct=(500, 5_000), hot=(1_000, 4_000), window=1_000, nodes=(10, 100)),
    spark_items=0,
    spark_state=(),
)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """The two documents first, then the stream, then the memory of a process of its own."""
    points = sum(map(len, effort.technical.figures().values()))
    task = progress.add_task("joins", total=points + len(effort.feed.sizes) + 2)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    technical = measure_technical(effort.technical, advance)
    feed = measure_feed(effort.feed, advance)
    memory = measure_memory(effort.feed)
    advance()
    curves = measure_curves(effort.curves)
    advance()
    on_spark = measure_spark(effort.spark_items) if effort.spark_items else None
    state = measure_state(effort.spark_state) if effort.spark_state else None
    return make_report(Found(effort.technical.figures(), technical, feed, memory, curves, on_spark, state))
