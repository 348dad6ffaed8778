"""What the joins experiment found in, its figures, tables, notes and panels out."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version

from bench.goals import Goal, goals_table
from bench.joins.arena import VIEWS, WAYS, Standing
from bench.joins.curves import Curves, growth
from bench.joins.feed import BATCH
from bench.joins.paper import compare
from bench.joins.spark_state import StreamState
from bench.joins.technical import Setting
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import compact, short

#: The figures of a full run. A quick one has None for what it leaves out.
KEYS = (
    "speedup_vs_sequential_1k",
    "speedup_vs_sequential_100k",
    "speedup_vs_templates_100k",
    "documents_per_second_100k",
    "growth_10k_to_1m",
    "state_bytes_per_document",
    "spark_documents_per_second",
    "spark_state_bytes_written_per_document",
    "gathered_growth_10k_to_100k_state",
    "speedup_vs_sequential_distinct_100k",
    "growth_distinct_5k_to_100k",
    "hot_value_growth_1k_to_16k",
    "document_window_over_time_window",
    "one_by_one_us",
    "nodes_growth_10_to_100",
    "load_per_second_distinct",
    "publishing_over_silent",
    "megabytes_distinct_100k",
    "spark_state_bytes_written_per_document",
    "gathered_growth_10k_to_100k_state",
)
_GOALS = {
    "speedup_vs_sequential_1k": Goal("1,000 queries: times as fast as one after the other", least=100),
    "speedup_vs_sequential_100k": Goal("100,000 queries: times as fast as one after the other", least=10_000),
    "speedup_vs_templates_100k": Goal("100,000 queries: times as fast as templates with views on DuckDB", least=3),
    "documents_per_second_100k": Goal("100,000 queries: documents a second, from XML to matches"),
    "growth_10k_to_1m": Goal("time a document with 1,000,000 queries over that with 10,000", most=2),
    "state_bytes_per_document": Goal("bytes a document of the state"),
    "spark_documents_per_second": Goal("documents a second on Spark"),
    "spark_state_bytes_written_per_document": Goal("bytes a stream on Spark writes of its state for each document"),
    "gathered_growth_10k_to_100k_state": Goal("time a batch with 100,000 documents of state over 10,000", most=1.5),
    "speedup_vs_sequential_distinct_100k": Goal(
        "100,000 queries that all differ: times as fast as each alone", least=10_000
    ),
    "growth_distinct_5k_to_100k": Goal("time a document with 100,000 distinct queries over that with 5,000", most=1.5),
    "hot_value_growth_1k_to_16k": Goal("the same with 16,000 documents held that have a value over 1,000", most=1.5),
    "document_window_over_time_window": Goal("a window in documents over one in time", most=1.5),
    "one_by_one_us": Goal("one document at a time, µs", most=300),
    "nodes_growth_10_to_100": Goal("100 nodes of each joined field over 10", most=15),
    "load_per_second_distinct": Goal("distinct queries loaded a second", least=10_000),
    "megabytes_distinct_100k": Goal("100,000 distinct queries, megabytes", most=300),
    "publishing_over_silent": Goal("batches beside a query that publishes over batches without", most=1.5),
}
_TITLES = {
    8: ("Figure 8: two levels, number of queries", "queries"),
    9: ("Figure 9: two levels, number of leaves", "leaves"),
    10: ("Figure 10: two levels, Zipf parameter", "zipf"),
    11: ("Figure 11: three levels, number of queries", "queries"),
    12: ("Figure 12: three levels, most value joins K", "most"),
    13: ("Figure 13: three levels, Zipf parameter", "zipf"),
}
_SHOWN = {
    "read": "read XML",
    "witness": "first stage",
    "fast": "Weft",
    "none": "templates",
    "materialized": "templates, views",
    "cache": "templates, cache",
    "sequential": "one by one",
}


@dataclass(frozen=True, slots=True)
class Found:
    """All that was measured."""

    figures: dict[int, list[Setting]]
    technical: dict[Setting, Standing]
    feed: list[Standing]
    state_bytes: float | None
    curves: Curves
    spark: float | None
    stream: StreamState | None

    def points(self, figure: int) -> list[tuple[float, Standing]]:
        """The points of one of the paper's figures, by the parameter that it varies."""
        field = _TITLES[figure][1]
        return [(getattr(setting, field), self.technical[setting]) for setting in self.figures[figure]]


def make_report(found: Found) -> Report:
    """All that one run gives."""
    figures = _figures(found)
    technical = tuple(_technical_table(found, figure) for figure in found.figures)
    beside = Table("What the paper says", ("what", "paper", "here"), tuple(compare(found.feed, found.points)))
    tables = (
        goals_table(_GOALS, figures),
        _feed_table(found.feed),
        _ratios_table(found.feed),
        *technical,
        *_views_tables(found),
        _curves_table(found.curves),
        beside,
    )
    return Report(figures, tables, tuple(_notes(found)), (*_technical_panels(found), _feed_panel(found.feed)))


def _figures(found: Found) -> dict[str, Figure]:
    measured: dict[str, float | None] = {}
    for one in found.feed:
        end = short(one.queries)
        views, ours = one.views_us, one.us("fast")
        measured[f"speedup_vs_sequential_{end}"] = one.speedup("sequential")
        measured[f"speedup_vs_sequential_feed_distinct_{end}"] = one.speedup_on_distinct
        measured[f"speedup_vs_templates_{end}"] = views / ours if views and ours else None
        measured[f"documents_per_second_{end}"] = one.documents_per_second
        measured[f"add_us_{end}"] = 1e6 * one.add_seconds / one.queries
        measured |= {f"{way}_us_{end}": one.us(way) for way in WAYS}
    for figure, name in ((8, "two_level"), (11, "three_level")):
        for _, one in found.points(figure):
            measured[f"speedup_vs_sequential_{short(one.queries)}_{name}"] = one.speedup("sequential")
            measured[f"speedup_vs_templates_{short(one.queries)}_{name}"] = one.speedup("materialized")
    rates = {one.queries: one.documents_per_second for one in found.feed}
    few, many = rates.get(10_000), rates.get(1_000_000)
    measured["growth_10k_to_1m"] = few / many if few and many else None
    measured["state_bytes_per_document"] = found.state_bytes
    measured["spark_documents_per_second"] = found.spark
    measured["spark_state_bytes_written_per_document"] = found.stream.bytes_written if found.stream else None
    measured["gathered_growth_10k_to_100k_state"] = found.stream.growth if found.stream else None
    measured["state_documents"] = max((one.state for one in found.feed), default=None)
    measured |= _curve_figures(found.curves)
    rounded = {key: None if value is None else float(f"{value:.4g}") for key, value in measured.items()}
    return dict.fromkeys(KEYS) | rounded


def _curve_figures(curves: Curves) -> dict[str, float | None]:
    distinct, hot, windows = curves.distinct, curves.hot, list(curves.windows.values())
    silent, publishing, alone = curves.alone.values()
    return {
        "growth_distinct_5k_to_100k": growth(distinct) if {5_000, 100_000} <= set(distinct) else None,
        "hot_value_growth_1k_to_16k": growth(hot) if {1_000, 16_000} <= set(hot) else None,
        "document_window_over_time_window": windows[1] / windows[0],
        "one_by_one_us": alone,
        "nodes_growth_10_to_100": curves.nodes[100] / curves.nodes[10] if {10, 100} <= set(curves.nodes) else None,
        "load_per_second_distinct": curves.load_per_second,
        "megabytes_distinct_100k": curves.megabytes if 100_000 in distinct else None,
        "speedup_vs_sequential_distinct_100k": (
            curves.one_after_the_other / distinct[100_000] if 100_000 in distinct else None
        ),
        "publishing_over_silent": publishing / silent,
    }


def _curves_table(curves: Curves) -> Table:
    rows = [(name, each, compact(us)) for name, curve in curves.each for each, us in curve.items()]
    return Table("Workloads that would hurt: µs a document", ("what is varied", "how far", "µs"), tuple(rows))


def _feed_table(feed: list[Standing]) -> Table:
    columns = ("queries", "distinct", *(_SHOWN[way] for way in WAYS))
    rows = tuple((f"{one.queries:,}", f"{one.distinct:,}", *(compact(one.us(way)) for way in WAYS)) for one in feed)
    return Table(f"Figure 16: feed stream, {feed[0].state:,} documents of state, µs a document", columns, rows)


def _ratios_table(feed: list[Standing]) -> Table:
    columns = ("queries", "× one by one", "× distinct ones", "× templates with views", "documents/s", "matches")
    rows = tuple(
        (
            f"{one.queries:,}",
            compact(one.speedup("sequential")),
            compact(one.speedup_on_distinct),
            compact(_ratio(one.views_us, one.us("fast"))),
            compact(one.documents_per_second),
            compact(one.matched),
        )
        for one in feed
    )
    return Table("Figure 16: how many times as fast Weft is, and its documents a second", columns, rows)


def _technical_table(found: Found, figure: int) -> Table:
    ways = [way for way in WAYS if way != "cache"]
    name = _TITLES[figure][1]
    columns = ("K" if name == "most" else name, *(_SHOWN[way] for way in ways), "× one by one", "× views")
    rows = tuple(
        (
            f"{value:,}",
            *(compact(one.us(way)) for way in ways),
            compact(one.speedup("sequential")),
            compact(one.speedup("materialized")),
            str(one.templates),
            compact(one.matched),
        )
        for value, one in found.points(figure)
    )
    return Table(f"{_TITLES[figure][0]}, µs for the second document", (*columns, "templates", "matches"), rows)


def _views_tables(found: Found) -> Iterator[Table]:
    """Figures 14 and 15: what the time with views goes into, for the most queries."""
    for figure, source, levels in ((14, 8, "two"), (15, 11, "three")):
        queries, one = found.points(source)[-1]
        parts = {"without views": one.us("none"), "with views": one.us("materialized")}
        parts |= {way.removeprefix("views ").replace("join", "conjunctive queries"): one.us(way) for way in VIEWS}
        title = f"Figure {figure}: views, {levels} levels, {queries:,.0f} queries, µs for the second document"
        yield Table(title, tuple(parts), (tuple(compact(us) for us in parts.values()),))


def _notes(found: Found) -> Iterator[str]:
    sampled = max(one.sampled for one in (*found.feed, *found.technical.values()))
    yield (
        f"One by one: a sample of at most {sampled} queries was run, each by a statement of its own over the same "
        "relations, and its time scaled up to all queries, equal ones too. The column for distinct ones tells what "
        "is left if equal queries were run once: the stream's queries are at most 1,545 different ones. On the stream "
        "each of the sample has the better of two orders of its joins, DuckDB's own and the template's."
    )
    yield (
        "Templates and one by one run on DuckDB with one thread; what is timed are the views and the conjunctive "
        "queries, as in the paper, without loading the batch or moving it to the state. Equal queries are one row of "
        "R_T. Weft's time has all of the second stage, and the count of the matches."
    )
    yield (
        f"The stream: the state is {found.feed[0].state:,} generated feed items, windows are infinite, every batch has "
        f"{BATCH} items that are new to all, the same batch for every way; medians of the batches, processor time."
    )
    yield (
        "Before anything was timed, all ways found the same matches on the first batches; after that, as many in every "
        "batch. Matches are queries with two documents, a document."
    )
    yield "Two documents: all leaves of a new pair agree; the first is in the state, the second is timed alone."
    packages = ", ".join(f"{package} {version(package)}" for package in ("duckdb", "numpy", "pyarrow"))
    yield f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores."


def _technical_panels(found: Found) -> Iterator[Panel]:
    for figure, (title, name) in _TITLES.items():
        points = found.points(figure)
        ticks = tuple(f"{value:g}" for value, _ in points) if name != "queries" else ()
        places = [float(at) if ticks else value for at, (value, _) in enumerate(points)]
        curves = _curves(list(zip(places, (one for _, one in points), strict=True)))
        yield Panel(title, name if name != "most" else "K", "µs a document", curves, ticks)


def _feed_panel(feed: list[Standing]) -> Panel:
    curves = _curves([(one.queries, one) for one in feed])
    return Panel("Figure 16: feed stream", "queries", "µs a document", curves)


def _curves(points: list[tuple[float, Standing]]) -> tuple[Curve, ...]:
    curves = []
    for way in ("fast", "none", "materialized", "cache", "sequential"):
        of_way = [(value, us) for value, one in points if (us := one.us(way)) is not None]
        if of_way:
            curves.append(Curve(_SHOWN[way], tuple(of_way)))
    return tuple(curves)


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None
