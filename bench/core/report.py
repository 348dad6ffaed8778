"""What the core experiment found in, its figures, tables, notes and panels out."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass

from bench.core.batching import SIZES as BATCHES
from bench.core.churn import CALLS, Churn
from bench.core.scanning import ScanTiming
from bench.core.skew import Skewed
from bench.core.stages import STAGES, Stages
from bench.core.untouched import Untouched
from bench.goals import Goal, goals_table
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import compact, short

_STAGE_SIZES = (1_000, 10_000, 100_000)
#: The stages of a full run. A quick one has None for the sizes that it leaves out.
STAGE_KEYS = tuple(
    f"stage_{stage}_us_{short(size)}{end}" for end in ("", "_predicates") for size in _STAGE_SIZES for stage in STAGES
)
GOALS = {
    "skew": Goal('all queries with [@lang = "en"] beside another value: times as long as with distinct ones', most=2),
    "skew_beside_paths": Goal("the same beside a path instead of a value"),
    "one_by_one_us_1k": Goal("a batch of one, 1,000 queries, µs"),
    "one_by_one_us_100k": Goal("a batch of one, 100,000 queries, µs"),
    "threads_2": Goal("two threads that match, times as fast as one, 100,000 queries", least=1.5),
    "threads_2_publish": Goal("two threads that publish, times as fast as one, 1,000 queries", least=1.5),
    "longest_pause_ms": Goal("the longest call while subscriptions come and go, ms", most=10),
    "longest_pause_ms_predicates": Goal("the same beside queries with predicates, ms", most=10),
    "bytes_per_label_path": Goal("memory a label path, 100,000 queries, bytes"),
    "scan_mb_per_second": Goal("the scan, MB a second"),
    "scan_vs_bare_expat": Goal("the scan, times as fast as expat without handlers; the worse of both kinds", least=4),
    "untouched_us": Goal("equality queries whose constants no document has, µs a document over the scan"),
}
_SHOWN = {"small": "news", "large": "health records"}


@dataclass(frozen=True, slots=True)
class StageRow:
    """The stages with so many queries."""

    size: int
    predicates: bool
    stages: Stages

    @property
    def name(self) -> str:
        """What stands in a table's first column."""
        return f"{self.size:,} {'with predicates' if self.predicates else 'paths'}"

    @property
    def end(self) -> str:
        """How its keys end."""
        return f"{short(self.size)}{'_predicates' if self.predicates else ''}"


@dataclass(frozen=True, slots=True)
class Found:
    """All that was measured."""

    memory: tuple[int, int, int] | None  # by what it grew: bytes that are counted, label paths, bytes of the process
    scans: dict[str, ScanTiming]
    batches: dict[int, dict[int, float]]  # by number of queries and size of batches, µs a document
    churn: Churn
    churn_predicates: Churn
    threads: dict[str, float]
    untouched: Untouched
    skews: dict[str, Skewed]
    stages: list[StageRow]
    counts: dict[str, int]


def make_report(found: Found) -> Report:
    """All that one run gives."""
    figures = _figures(found)
    goals = goals_table({key: goal for key, goal in GOALS.items() if key in figures}, figures)
    tables = (
        goals,
        _stages_table(found.stages),
        _scans_table(found.scans),
        _batches_table(found.batches),
        _churn_table(found.churn, "paths"),
        _churn_table(found.churn_predicates, "queries with predicates"),
        _skew_table(found.skews),
    )
    return Report(figures, tables, tuple(_notes(found)), _panels(found))


def _figures(found: Found) -> dict[str, Figure]:
    counted, label_paths, grown = found.memory or (0, 0, 0)
    measured: dict[str, float | None] = {
        "skew": found.skews["value"].ratio,
        "skew_beside_paths": found.skews["path"].ratio,
        **found.threads,
        "longest_pause_ms": found.churn.longest_pause,
        "longest_pause_ms_predicates": found.churn_predicates.longest_pause,
        "bytes_per_label_path": counted / label_paths if label_paths > 0 else None,
        "process_bytes_per_label_path": grown / label_paths if label_paths > 0 else None,
        "scan_mb_per_second": found.scans["small"].mb_per_second,
        "scan_mb_per_second_large": found.scans["large"].mb_per_second,
        "scan_vs_bare_expat": min(scan.vs_expat for scan in found.scans.values()),
        "untouched_us": found.untouched.over_scan_us,
        "untouched_all_us": found.untouched.all_us,
    }
    for name, scan in found.scans.items():
        measured[f"scan_us_{name}"] = scan.weft_us
        measured[f"bare_expat_us_{name}"] = scan.expat_us
        measured[f"scan_vs_bare_expat_{name}"] = scan.vs_expat
    for queries, times in found.batches.items():
        measured[f"one_by_one_us_{short(queries)}"] = times[1]
        measured |= {f"batch_{size}_us_{short(queries)}": us for size, us in times.items()}
    for call in CALLS:
        measured[f"longest_{call}_ms"] = found.churn.longest(call)
    measured["longest_collection_ms"] = found.churn.longest_collection
    for row in found.stages:
        named = zip(STAGES, row.stages.values, strict=True)
        measured |= {f"stage_{stage}_us_{row.end}": us for stage, us in named}
    rounded = {key: None if value is None else float(f"{value:.4g}") for key, value in measured.items()}
    counts = {"churn": found.churn.rounds, "label_paths_measured": label_paths, "cores": os.cpu_count()}
    return dict.fromkeys(STAGE_KEYS) | rounded | found.counts | counts


def _stages_table(rows: list[StageRow]) -> Table:
    columns = ("queries", *(stage.replace("_", " ") for stage in STAGES), "all")
    cells = tuple(
        (row.name, *(compact(getattr(row.stages, stage)) for stage in STAGES), compact(row.stages.total))
        for row in rows
    )
    return Table("The stages of a document, µs", columns, cells)


def _scans_table(scans: dict[str, ScanTiming]) -> Table:
    columns = ("documents", "bytes", "scan µs", "bare expat µs", "×", "scan MB/s")
    rows = tuple(
        (
            _SHOWN[name],
            *map(compact, (scan.document_bytes, scan.weft_us, scan.expat_us, scan.vs_expat, scan.mb_per_second)),
        )
        for name, scan in scans.items()
    )
    return Table("The scan beside expat without handlers, a document", columns, rows)


def _batches_table(batches: dict[int, dict[int, float]]) -> Table:
    columns = ("queries", *(f"batches of {size:,}" for size in BATCHES))
    rows = tuple((f"{queries:,}", *(compact(times[size]) for size in BATCHES)) for queries, times in batches.items())
    return Table("By the size of batches, µs a document", columns, rows)


def _churn_table(churn: Churn, kind: str) -> Table:
    rows = tuple((call, compact(churn.usual(call)), compact(churn.longest(call))) for call in CALLS)
    rows += (("garbage collection inside them", "–", compact(churn.longest_collection)),)
    title = f"While subscriptions come and go beside {kind}, {churn.rounds:,} of each call, ms"
    return Table(title, ("call", "median", "longest"), rows)


def _skew_table(skews: dict[str, Skewed]) -> Table:
    columns = ("beside", "one constant µs", "distinct constants µs", "×", "ids a document")
    rows = tuple(
        (f"another {beside}", *map(compact, (one.skewed_us, one.distinct_us, one.ratio, one.ids)))
        for beside, one in skews.items()
    )
    return Table("All queries on one constant and label path", columns, rows)


def _notes(found: Found) -> Iterator[str]:
    yield "Processor time, medians; only the threads' times are on the clock, the best round of each. Fresh documents."
    yield "Stages are differences between brokers, or between two passes of one: a small one may come out below zero."
    yield (
        f"Skew with {found.counts['skew_queries']:,} queries, untouched ones {found.counts['untouched_queries']:,}, "
        f"{found.churn.rounds:,} subscriptions added and removed."
    )
    yield f"Python {platform.python_version()}, {os.cpu_count()} cores."


def _panels(found: Found) -> tuple[Panel, ...]:
    sizes = tuple(
        Curve(f"{queries:,} queries", tuple(sorted(times.items()))) for queries, times in found.batches.items()
    )
    stages = tuple(
        Curve(row.name, points)
        for row in found.stages
        if (points := tuple((place, us) for place, us in enumerate(row.stages.values) if us is not None and us > 0))
    )
    ticks = tuple(stage.replace("_", " ") for stage in STAGES)
    return (
        Panel("By the size of batches", "documents in a batch", "µs per document", sizes),
        Panel("The stages of a document", "stage", "µs per document", stages, ticks),
    )
