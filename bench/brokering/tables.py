"""Points of the brokering experiment in, its tables out, with the numbers that the paper's text gives beside."""

from __future__ import annotations

from collections.abc import Iterable

from bench.brokering.points import Cell, Point
from bench.brokering.saxon import Beside
from bench.brokering.ways import APPROACHES, OPTIMIZATIONS, REST
from bench.report import Table
from bench.table import compact

# Section 6.2 of the paper, in ms; "~" where the text says "around".
_PAPER_OPERATORS = {
    ("F", "NoOpt"): {"Where-Filter": "386"},
    ("FW", "NoOpt"): {"PME": "27", "Selection": "57", "Semijoin": "147", "Return-Select": "212"},
    ("FWR", "NoOpt"): {"OuterJoin-Select": "244", "DupElim": "404"},
    ("FWR", "Opt(q+dtd)"): {"DupElim": "0", "Semijoin": "~20", "OuterJoin-Select": "~20"},
}
_PAPER_MATCHES = {3: "116"}  # by the number of predicate paths
PAPER_MQPT = {100_000: 472.0}  # of the shared plan, by the number of plans
_OPERATORS = ("PME", "Selection", "DupElim", "Where-Filter", "Semijoin", "Return-Select", "OuterJoin-Select", REST)
_SHARED_OPERATORS = ("PME", "Selection", "Join", "GroupBy", "OuterJoin-Select", REST)
_MERGED_OPERATORS = ("PME", "Join", "Selection", "GroupBy", "OuterJoin-Select", "Semijoin", "DupElim", REST)
_COUNTS = ("DupElim", "semijoin by hash", "semijoin by merge", "outer join by hash", "outer join by merge")
_NONE = "–"


def approaches_table(title: str, point: Point) -> Table:
    """Figures 7 and 10: the three approaches by what is optimized; the shared plan has all optimizations."""
    with_singles = point.shared.single_ms is not None
    columns = ("", *APPROACHES, "shared plan")
    if with_singles:
        columns += (*(f"{approach} batch 1" for approach in APPROACHES), "shared plan batch 1")
    rows = []
    for optimization in OPTIMIZATIONS:
        cells = [point.ways[approach, optimization] for approach in APPROACHES]
        last = optimization == OPTIMIZATIONS[-1]
        row = [optimization, *(compact(cell.ms) for cell in cells), compact(point.shared.ms) if last else _NONE]
        if with_singles:
            row += [compact(cell.single_ms) for cell in cells]
            row.append(compact(point.shared.single_ms) if last else _NONE)
        rows.append((*row, _documents([*cells, point.shared] if last else cells)))
    return Table(f"{title}: {_what(point)}, ms per document", (*columns, "documents"), tuple(rows))


def operators_table(point: Point) -> Table:
    """Table 2, and what the text says about the other approaches."""
    columns, series = [""], []
    for (approach, optimization), cell in point.ways.items():
        if cell.operators:
            columns.append(f"{approach} {optimization}")
            series.append({name: compact(ms) for name, ms in cell.operators.items()})
            if paper := _PAPER_OPERATORS.get((approach, optimization)):
                columns.append("paper")
                series.append(paper)
    rows = tuple((name, *(one.get(name, _NONE) for one in series)) for name in _OPERATORS)
    return Table(f"Table 2: costs of the operators, {_what(point)}, ms per document", tuple(columns), rows)


def counts_table(point: Point) -> Table:
    """Table 3."""
    counts = [point.ways["FWR", optimization].counts for optimization in OPTIMIZATIONS]
    rows = tuple((name, *(f"{count[name]:,}" for count in counts)) for name in _COUNTS)
    return Table("Table 3: operators in the plans of FWR, an outer join for each list", ("", *OPTIMIZATIONS), rows)


def predicates_table(points: list[Point]) -> Table:
    """Figure 8, with the matches that the paper had."""
    paths = [point.setting.predicate_paths for point in points]
    table = _series(f"Figure 8: predicate paths, {_what(points[0])}", "PP", points, paths)
    rows = tuple((*row, _PAPER_MATCHES.get(path, _NONE)) for row, path in zip(table.rows, paths, strict=True))
    return Table(table.title, (*table.columns, "paper: queries matched"), rows)


def returns_table(points: list[Point]) -> Table:
    """Figure 9."""
    paths = [point.setting.return_paths for point in points]
    return _series(f"Figure 9: return paths, {_what(points[0])}", "RP", points, paths)


def sizes_table(points: list[Point]) -> Table:
    """Figure 11."""
    sizes = [point.queries for point in points]
    return _series(f"Figure 11: queries, {_workload(points[0])}", "queries", points, sizes)


def _series(title: str, label: str, points: list[Point], places: list[int]) -> Table:
    """The three approaches with all optimizations along one parameter."""
    columns = (label, *APPROACHES, "shared plan", "queries matched", "groups", "documents")
    rows = []
    for point, place in zip(points, places, strict=True):
        cells = [*(point.ways[approach, "Opt(q+dtd)"] for approach in APPROACHES), point.shared]
        matched = point.shared.per_document(lambda some: some.messages)
        groups = point.shared.per_document(lambda some: some.groups)
        numbers = (*(cell.ms for cell in cells), matched, groups)
        rows.append((f"{place:,}", *map(compact, numbers), _documents(cells)))
    return Table(f"{title}, Opt(q+dtd), ms per document", columns, tuple(rows))


def unshared_costs_table(points: list[Point]) -> Table:
    """Table 4."""
    cells = [point.ways["FWR", "Opt(q+dtd)"] for point in points]
    return _costs("Table 4: costs of the operators, FWR Opt(q+dtd)", points, cells, _OPERATORS)


def shared_costs_table(points: list[Point]) -> Table:
    """Table 5."""
    return _costs(
        "Table 5: costs of the operators, shared plan", points, [point.shared for point in points], _SHARED_OPERATORS
    )


def plan_sharing_costs_table(points: list[Point]) -> Table:
    """Table 5 by the paper's own algorithm."""
    cells = [point.ways["PlanSharing", "Opt(q+dtd)"] for point in points]
    return _costs("Table 5: costs of the operators, PlanSharing", points, cells, _MERGED_OPERATORS)


def sharing_table(points: list[Point]) -> Table:
    """Figure 12."""
    names = "plans, queries, FWR, PlanSharing, shared plan, paper: PlanSharing, × FWR, × PlanSharing"
    columns = (*names.split(", "), "FWR batch 1", "shared plan batch 1", "groups", "µs per group", "documents")
    rows = []
    for point in points:
        single, merged = point.ways["FWR", "Opt(q+dtd)"], point.ways["PlanSharing", "Opt(q+dtd)"]
        shared = point.shared
        groups = shared.per_document(lambda some: some.groups)
        times = (single.ms, merged.ms, shared.ms, PAPER_MQPT.get(point.plans))
        ratios = (single.ms / shared.ms, merged.ms / shared.ms)
        numbers = (*times, *ratios, single.single_ms, shared.single_ms, groups, 1e3 * shared.ms / groups)
        rows.append(
            (f"{point.plans:,}", f"{point.queries:,}", *map(compact, numbers), _documents([single, merged, shared]))
        )
    return Table(f"Figure 12: distinct plans, {_workload(points[0])}, ms per document", columns, tuple(rows))


def saxon_table(found: list[Beside]) -> Table:
    """Weft and Saxon until what they find is there, and until it is text."""
    names = "workload; queries; Weft: groups; Weft: messages; Saxon: values; Saxon: text; Saxon: run_query"
    columns = (*names.split("; "), "× values / groups", "× text / messages", "messages", "documents")
    rows = tuple(
        (
            f"{one.setting.dtd}, MaxValue {one.setting.values}",
            f"{one.queries:,}",
            *(compact(ms) for ms in (one.groups_ms, one.messages_ms)),
            *(one.reason or compact(ms) for ms in (one.values_ms, one.texts_ms, one.run_query_ms)),
            *(compact(ratio) for ratio in (one.speedup_groups, one.speedup, one.messages)),
            f"{one.documents}",
        )
        for one in found
    )
    return Table("Saxon, one query after the other, ms per document", columns, rows)


def _costs(title: str, points: list[Point], cells: list[Cell], operators: Iterable[str]) -> Table:
    met = [name for name in operators if any(name in cell.operators for cell in cells)]
    rows = [(name, *(compact(cell.operators.get(name)) for cell in cells)) for name in met]
    rows.append(("together", *(compact(sum(cell.operators.values())) for cell in cells)))
    columns = ("", *(f"{point.plans:,} plans" for point in points))
    return Table(f"{title}, {_workload(points[0])}, ms per document", columns, tuple(rows))


def _documents(cells: list[Cell]) -> str:
    return ", ".join(str(cell.documents) for cell in cells)


def _workload(point: Point) -> str:
    return f"{point.setting.dtd}, MaxValue {point.setting.values}"


def _what(point: Point) -> str:
    return f"{_workload(point)}, {point.queries:,} queries"
