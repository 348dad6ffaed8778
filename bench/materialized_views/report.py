"""What the experiment on materialized views measured in; its figures, tables, notes and panels out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from bench.goals import Goal, goals_table
from bench.materialized_views.curves import Curves, Times
from bench.materialized_views.hurting import Hurting
from bench.materialized_views.model import Share
from bench.materialized_views.probes import BesideSaxon, Containment, RefreshTimes
from bench.materialized_views.workload import Overlap
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import compact

_GOALS = {
    "workload_speedup_full_budget": Goal("times as fast with all views as with none (run)", least=10),
    "workload_speedup_full_budget_cold": Goal("the same, by a server that was just opened", least=10),
    "greedy_vs_optimum": Goal("the paper's greedy choice at half of the space, of what the optimum saves", least=0.95),
    "ours_vs_optimum": Goal("Weft's choice, the same", least=0.99),
    "transform_gain_half_budget": Goal("times as fast as without transformations, half of the space", least=1),
    "ours_vs_lru_cache_half_budget": Goal(
        "times as fast as an LRU cache of the same bytes, half of the space", least=1.2
    ),
    "refresh_cost_1pct": Goal("refresh after 1 % has changed, of storing anew (processor)", most=0.1),
    "containment_us": Goal("one containment check, µs"),
    "find_rewriting_us": Goal("finding how 1,000 views answer a query, µs"),
    "answer_from_view_ms": Goal("an answer from stored views, processor ms"),
    "saxon_ms": Goal("the same by Saxon, the document in memory, ms"),
}
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Results:
    """All that was measured."""

    curves: list[Curves]
    contest: Mapping[tuple[Overlap, str], list[Share]]
    containment: Containment
    refreshed: list[RefreshTimes]  # the last is the figure
    answered: BesideSaxon
    hurting: Hurting
    source_bytes: int

    @property
    def shares(self) -> list[Share]:
        """Of all instances of the contest."""
        return [share for each in self.contest.values() for share in each]


def make_report(results: Results) -> Report:
    """The report of a run."""
    figures = _figures(results)
    tables = (
        goals_table(_GOALS, figures),
        *(table for each in results.curves for table in (_run_table(each), _model_table(each))),
        _contest_table(results),
        _probe_table(results),
        _hurting_table(results.hurting),
    )
    return Report(figures, tables, _notes(results, figures), tuple(map(_panel, results.curves)))


def _figures(results: Results) -> dict[str, Figure]:
    curves, shares, refreshed = results.curves, results.shares, results.refreshed[-1]
    return {
        "workload_speedup_full_budget": _digits(_over(curves, lambda each: each.at(0).ours / each.at(1).ours)),
        "workload_speedup_full_budget_cold": _digits(_over(curves, lambda each: each.at(0).ours / each.cold)),
        "greedy_vs_optimum": _digits(_mean(share.greedy for share in shares)),
        "greedy_vs_optimum_worst": _digits(min(share.greedy for share in shares)),
        "ours_vs_optimum": _digits(_mean(share.ours for share in shares)),
        "ours_vs_optimum_worst": _digits(min(share.ours for share in shares)),
        "ours_vs_optimum_run_half_budget": _digits(_half(curves, lambda at: at.optimum / at.ours)),
        "random_vs_greedy_run_half_budget": _digits(_half(curves, lambda at: at.random / at.greedy)),
        "random_loss": _digits(_mean(1 - share.random / share.greedy for share in shares)),
        "transform_gain_half_budget": _digits(_half(curves, lambda at: at.whole_ours / at.ours)),
        "transform_gain_half_budget_many": _digits(
            _half([each for each in curves if each.overlap == "many"], lambda at: at.whole_ours / at.ours)
        ),
        "transform_gain_half_budget_model": _digits(_geometric([share.transformed_ours for share in shares])),
        "transform_gain_half_budget_model_greedy": _digits(_geometric([share.transformed_greedy for share in shares])),
        "ours_vs_lru_cache_half_budget": _digits(_half(curves, lambda at: at.lru / at.ours)),
        "ours_vs_lru_cache_half_budget_plain": _digits(_half(curves, lambda at: max(at.lru_plain, 1e-6) / at.ours)),
        "model_vs_run_half_budget": _digits(_half(curves, lambda at: at.ours_model / at.ours)),
        "containment_us": _digits(results.containment.check_us),
        "find_rewriting_us": _digits(results.containment.find_us),
        "refresh_cost_1pct": _digits(refreshed.cost),
        "refresh_cost_1pct_smallest": _digits(results.refreshed[0].cost),
        "refresh_cost_1pct_mean": _digits(refreshed.refresh_mean / refreshed.anew),
        "refresh_cost_1pct_wall": _digits(refreshed.refresh_wall / refreshed.anew_wall),
        "refresh_ms": _digits(refreshed.refresh * 1e3),
        "answer_from_view_ms": _digits(results.answered.view_ms),
        "answer_from_view_cold_ms": _digits(results.answered.cold_ms),
        "answer_from_view_known_ms": _digits(results.answered.known_ms),
        "saxon_ms": _digits(results.answered.saxon_ms),
        "saxon_parse_ms": _digits(results.answered.saxon_parse_ms),
        "many_views_slowdown": _digits(_grown(results.hurting.by_views)),
        "many_sources_ms_each": _digits(_each(results.hurting.by_sources)),
        "large_answer_ms_per_mb": _digits(results.hurting.large_cold_ms),
        "small_refresh_ms": _digits(results.hurting.refresh_ms),
        "small_refreshes_slowdown": _digits(results.hurting.after_refreshes),
    }


def _grown(times: Mapping[int, float]) -> float:
    """How many times as long it takes with the most as with the fewest."""
    return times[max(times)] / times[min(times)]


def _each(times: Mapping[int, float]) -> float:
    return times[max(times)] / max(times)


def _over(curves: Iterable[Curves], ratio: Callable[[Curves], float]) -> float:
    return _geometric([ratio(each) for each in curves])


def _half(curves: Iterable[Curves], ratio: Callable[[Times], float]) -> float:
    return _over(curves, lambda each: ratio(each.at(_HALF)))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _geometric(values: list[float]) -> float:
    return exp(_mean(map(log, values)))


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _run_table(curves: Curves) -> Table:
    columns = (
        *("space", "KB", "ours", "greedy", "optimum", "random average", "  minimum"),
        *("whole answers", "  random average", "  minimum", "LRU", "  in memory"),
    )
    rows = []
    for point in curves.points:
        run = point.ours, point.greedy, point.optimum, point.random, point.random_minimum
        replayed = point.whole_ours, point.whole_random, point.whole_random_minimum, point.lru, point.lru_plain
        rows.append(_row(point, (*run, *replayed)))
    title = f"{curves.overlap} intersections, sources {curves.kind}: ms a query, run; from whole answers on replayed"
    return Table(f"{title} ({curves.queries} queries)", columns, tuple(rows))


def _model_table(curves: Curves) -> Table:
    columns = "space", "KB", "ours", "greedy", "optimum", "random average", "  minimum", "no transformations"
    rows = []
    for point in curves.points:
        model = point.model
        times = point.ours_model, model.greedy.time, model.optimum.time, model.random_average, model.random_minimum
        rows.append(_row(point, (*times, point.model_without)))
    return Table(f"{curves.overlap} intersections, sources {curves.kind}: ms a query, model", columns, tuple(rows))


def _row(point: Times, times: Iterable[float]) -> tuple[str, ...]:
    return f"{point.share:.0%}", f"{point.limit / 1e3:.0f}", *(compact(time * 1e3) for time in times)


def _contest_table(results: Results) -> Table:
    rows = []
    for (overlap, kind), shares in results.contest.items():
        greedy, ours, random = ([getattr(share, name) for share in shares] for name in ("greedy", "ours", "random"))
        rows.append(
            (
                f"{overlap}, {kind}",
                *(f"{value:.4f}" for value in (_mean(greedy), min(greedy), _mean(ours), min(ours), _mean(random))),
                f"{_geometric([share.transformed_greedy for share in shares]):.2f}",
                f"{_geometric([share.transformed_ours for share in shares]):.2f}",
            )
        )
    title = f"Saved at half of the space, of what the optimum saves: {len(results.shares)} instances, by the model"
    columns = "setting", "greedy", "worst", "ours", "worst", "random", "transformations gain: greedy", "ours"
    return Table(title, columns, tuple(rows))


def _probe_table(results: Results) -> Table:
    answered = results.answered
    rows = (
        ("one containment check, µs", f"{results.containment.check_us:.1f}"),
        ("how 1,000 views answer a query, µs", f"{results.containment.find_us:,.0f}"),
        *(row for each in results.refreshed for row in _refresh_rows(each)),
        (
            f"an answer from views of a document of {answered.size / 1e6:.1f} MB, processor ms",
            f"{answered.view_ms:.1f}",
        ),
        ("  where nothing of them is in memory yet, ms", f"{answered.cold_ms:.1f}"),
        ("  of queries that are views themselves, ms", f"{answered.known_ms:.1f}"),
        (
            "  by Saxon, the document in memory, ms",
            compact(answered.saxon_ms) if answered.saxon_ms else answered.reason,
        ),
        ("  to parse it for that, ms", compact(answered.saxon_parse_ms)),
    )
    return Table("Single steps", ("step", "found"), rows)


def _refresh_rows(each: RefreshTimes) -> Iterable[tuple[str, str]]:
    yield f"store the views of a file of {each.size / 1e6:.1f} MB anew, processor ms", f"{each.anew * 1e3:,.0f}"
    yield f"  refresh, {each.changed} of {each.records} records changed", f"{each.refresh * 1e3:,.0f}"
    yield "  with what is written anew now and then, mean", f"{each.refresh_mean * 1e3:,.0f}"
    yield "  by the clock: anew, refresh, ms", f"{each.anew_wall * 1e3:,.0f}, {each.refresh_wall * 1e3:,.0f}"


def _hurting_table(hurting: Hurting) -> Table:
    rows = [
        *((f"a query that is one of {number:,} views", compact(time)) for number, time in hurting.by_views.items()),
        *(
            (f"one that they contain, of {number:,}", compact(time))
            for number, time in hurting.by_views_compensated.items()
        ),
        *((f"one that {number:,} sources have nodes of", compact(time)) for number, time in hurting.by_sources.items()),
        (f"an answer of {hurting.large_bytes / 1e6:.0f} MB, a megabyte: from disk", compact(hurting.large_cold_ms)),
        ("  from memory", compact(hurting.large_warm_ms)),
        (f"a refresh after one record has changed, mean of {hurting.refreshes}", compact(hurting.refresh_ms)),
        ("  an answer from disk after these, times as long as before", compact(hurting.after_refreshes)),
    ]
    return Table("What could hurt: processor ms", ("what", "found"), tuple(rows))


def _notes(results: Results, figures: dict[str, Figure]) -> tuple[str, ...]:
    extra = [(point.stored or 0) / point.limit - 1 for each in results.curves if (point := each.at(1.0)).limit]
    return (
        f"Five sources, {results.source_bytes / 1e6:.1f} MB in all, each an HTTP service on loopback held to its "
        "latency and rates. *Run*: every query asked over HTTP with the choice stored, and each answer compared with "
        "the one of the sources. *Replayed*: put together of times run for the same queries, each held as a whole or "
        "not at all. *Model*: by the cost model with the rates imposed, which knows no overhead of any kind.",
        "100 % is what all parts take on disk. What is kept to refresh them "
        f"({_mean(extra):.0%} more here, where records are small) does not count, for no way of choosing.",
        "The cache gets the same bytes. On disk it holds whole answers as views are held, and a hit takes what the "
        "answer takes from views. In memory, as plain text, a hit takes no time at all, and fewer fit: beside that "
        f"ours is {figures['ours_vs_lru_cache_half_budget_plain']} times as fast at half of the space.",
        "`random_loss` is the share of what greedy saves that a random choice does not. Ratios over the settings are "
        "geometric means.",
    )


def _panel(curves: Curves) -> Panel:
    lines: tuple[tuple[str, Callable[[Times], float]], ...] = (
        ("ours, run", lambda at: at.ours),
        ("greedy, run", lambda at: at.greedy),
        ("optimum, run", lambda at: at.optimum),
        ("random average, run", lambda at: at.random),
        ("random minimum, run", lambda at: at.random_minimum),
        ("no transformations, replayed", lambda at: at.whole_ours),
        ("  random average", lambda at: at.whole_random),
        ("  random minimum", lambda at: at.whole_random_minimum),
        ("LRU cache, replayed", lambda at: at.lru),
    )
    made = tuple(
        Curve(name, tuple((at, time(point) * 1e3) for at, point in enumerate(curves.points) if time(point) > 0))
        for name, time in lines
    )
    title = f"{curves.overlap} intersections, sources {curves.kind}"
    return Panel(
        title, "space, of what all parts take", "ms a query", made, tuple(f"{at.share:.0%}" for at in curves.points)
    )
