"""Tables 3, 5 and 6: what each search explores, how long it takes, and how long the plan runs that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bench.goals import Goal
from bench.in_or_out import paper
from bench.in_or_out.runs import SEARCHES, Runner, Searching, SearchRun
from bench.in_or_out.section import Section
from bench.in_or_out.stack_tables import StackSearch, stack_searches
from bench.in_or_out.workload import deep, ebay, wide
from bench.report import Curve, Panel, Table
from bench.table import compact

Runs = Mapping[Searching, SearchRun]
StackRuns = dict[str, Mapping[Searching, StackSearch]]
_SEED = 15
_MOST_EXHAUSTED = 10  # patterns side by side
_COLUMNS = ("plans", "search ms", "plan ms", "effectiveness", "paper: plans", "search ms", "plan ms", "effectiveness")
_STACK_COLUMNS = (
    "stream, search",
    "plans",
    "patterns pulled out",
    "plan, of all in",
    "paper: plans",
    "plan, of all in",
)
GOALS = {
    "figure9_gain_min": Goal("the plan found for Figure 9's query, times as fast as all in; the least gain", least=1.1),
    "greedy_vs_optimal_exec": Goal("GreedyBasic's plan over MinExhaust's, time; the worst", most=1.1),
    "prune_saves_plans": Goal("FastPrune explores fewer plans than GreedyBasic, by a share", least=0.3),
    "never_below_all_in": Goal("the plan found on any stream, times as fast as all in; the least", least=0.97),
}


def measure_tables(size: int, advance: Callable[[], object]) -> Section:
    """All three, on streams of so many bytes."""
    wide_runs: dict[tuple[int, int], Runs] = {}
    stack_runs: StackRuns = {}
    for stream, patterns in paper.TABLE_3:
        names: tuple[Searching, ...] = ("greedy", "fast-prune")
        if patterns <= _MOST_EXHAUSTED:
            names = ("min-exhaust", *names)
        workload = wide(patterns, stream, size, _SEED)
        wide_runs[stream, patterns] = Runner(workload).searches(names)
        stack_runs[f"wide {stream}, {patterns}"] = stack_searches(workload, names)
        advance()
    ebay_runs: dict[int, Runs] = {}
    for stream in paper.TABLE_5:
        workload = ebay(stream, size, _SEED)
        ebay_runs[stream] = Runner(workload).searches(("greedy", "fast-prune"))
        stack_runs[f"Figure 9, {stream}"] = stack_searches(workload, ("greedy", "fast-prune"))
        advance()
    deep_runs: dict[int, Runs] = {}
    for levels in paper.TABLE_6:
        workload = deep(levels, size, _SEED)
        deep_runs[levels] = Runner(workload).searches(SEARCHES)
        stack_runs[f"deep {levels}"] = stack_searches(workload, SEARCHES)
        advance()
    return make_section(wide_runs, ebay_runs, deep_runs, stack_runs)


def make_section(
    wide_runs: dict[tuple[int, int], Runs],
    ebay_runs: dict[int, Runs],
    deep_runs: dict[int, Runs],
    stack_runs: StackRuns,
) -> Section:
    """The tables beside the paper's, and the figures."""
    all_runs = [*wide_runs.values(), *ebay_runs.values(), *deep_runs.values()]
    both = [*wide_runs.values(), *ebay_runs.values()]
    exhausted = [runs for runs in all_runs if "min-exhaust" in runs]
    greedy, pruned = (sum(runs[name].explored for runs in both) for name in ("greedy", "fast-prune"))
    figures = {
        "figure9_gain_min": min(runs["greedy"].gain for runs in ebay_runs.values()),
        "greedy_vs_optimal_exec": max(runs["greedy"].running / runs["min-exhaust"].running for runs in exhausted),
        "prune_saves_plans": 1 - pruned / greedy,
        "never_below_all_in": min(runs["greedy"].gain for runs in all_runs),
        **{f"gain_figure9_{stream}": runs["greedy"].gain for stream, runs in ebay_runs.items()},
        **{f"gain_wide_{stream}_{number}": runs["greedy"].gain for (stream, number), runs in wide_runs.items()},
        **{f"gain_deep_{levels}": runs["greedy"].gain for levels, runs in deep_runs.items()},
        **{f"plans_deep_{levels}": runs["min-exhaust"].explored - 1 for levels, runs in deep_runs.items()},
    }
    tables = (
        Table("Table 3: wide and simple", ("stream, patterns, search", *_COLUMNS), tuple(_table_3(wide_runs))),
        Table("Table 5: Figure 9's query", ("stream, search", *_COLUMNS), tuple(_table_5(ebay_runs))),
        Table("Table 6: deep and complex", ("levels, search", *_COLUMNS), tuple(_table_6(deep_runs))),
        Table("The paper's equations 1 to 3 on these streams", _STACK_COLUMNS, tuple(_stack_rows(stack_runs))),
    )
    note = (
        "The last of these tables is by the paper's equations, with unit costs of a stack in Python; its last column "
        "is what the paper measured. Patterns of one parent begin at one state: a leaf has no costs of its own there."
    )
    return Section(figures, GOALS, tables, (note,), (_panel(ebay_runs),))


_NAMES: dict[Searching, str] = {"min-exhaust": "MinExhaust", "greedy": "GreedyBasic", "fast-prune": "FastPrune"}
Row = tuple[str, ...]


def _table_3(found: dict[tuple[int, int], Runs]) -> Iterator[Row]:
    for (stream, number), runs in found.items():
        *searches, initial = paper.TABLE_3[stream, number]
        told = dict(zip(_NAMES, searches, strict=True))
        yield from _rows(f"{stream}, {number}", runs, told, initial)


def _table_5(found: dict[int, Runs]) -> Iterator[Row]:
    for stream, runs in found.items():
        greedy, pruned, initial = paper.TABLE_5[stream]
        yield from _rows(str(stream), runs, {"greedy": greedy, "fast-prune": pruned}, initial)


def _table_6(found: dict[int, Runs]) -> Iterator[Row]:
    for levels, runs in found.items():
        exhaust, greedy, initial = paper.TABLE_6[levels]
        yield from _rows(str(levels), runs, {"min-exhaust": exhaust, "greedy": greedy}, initial)


def _rows(name: str, runs: Runs, told: Mapping[Searching, tuple[int, int, int] | None], initial: int) -> Iterator[Row]:
    """A row a search, and one for the initial plan."""
    for searching, run in runs.items():
        ours = (compact(run.explored), compact(1e3 * run.searching), compact(1e3 * run.running))
        theirs = told.get(searching)
        paper_cells = ("–",) * 4
        if theirs is not None:
            plans, search_ms, plan_ms = theirs
            paper_cells = (f"{plans:,}", f"{search_ms:,}", f"{plan_ms:,}", f"{(search_ms + plan_ms) / initial:.0%}")
        yield f"{name}, {_NAMES[searching]}", *ours, f"{run.effectiveness:.0%}", *paper_cells
    some = next(iter(runs.values()))
    yield f"{name}, all in", "–", "–", compact(1e3 * some.initial), "100%", "–", "–", f"{initial:,}", "100%"


def _stack_rows(found: StackRuns) -> Iterator[Row]:
    """By cost as the paper counts it, and what the paper explored and measured."""
    told: dict[str, tuple[dict[Searching, tuple[int, int, int] | None], int]] = {}
    for (stream, number), (*searches, initial) in paper.TABLE_3.items():
        told[f"wide {stream}, {number}"] = dict(zip(_NAMES, searches, strict=True)), initial
    for stream, (greedy, pruned, initial) in paper.TABLE_5.items():
        told[f"Figure 9, {stream}"] = {"greedy": greedy, "fast-prune": pruned}, initial
    for levels, (exhaust, greedy, initial) in paper.TABLE_6.items():
        told[f"deep {levels}"] = {"min-exhaust": exhaust, "greedy": greedy}, initial
    for stream_name, searched in found.items():
        theirs, initial = told[stream_name]
        for searching, one in searched.items():
            row = theirs.get(searching)
            paper_cells = ("–", "–") if row is None else (f"{row[0]:,}", f"{row[2] / initial:.0%}")
            cells = (compact(one.explored), str(one.pulled_out), f"{one.of_all_in:.0%}", *paper_cells)
            yield f"{stream_name}, {_NAMES[searching]}", *cells


def _panel(found: dict[int, Runs]) -> Panel:
    """Figure 9's query: what plans run, beside the paper's."""
    ours = [(at, 1 / runs["greedy"].gain) for at, runs in enumerate(found.values())]
    theirs = [(at, row[0][2] / row[2]) for at, row in enumerate(paper.TABLE_5.values())]
    curves = (Curve("Weft", tuple(ours)), Curve("the paper", tuple(theirs)))
    ticks = tuple(f"stream {stream}" for stream in found)
    return Panel("The plan found for Figure 9's query", "", "time, of that of all in", curves, ticks)
