"""What the brokering experiment found in, its figures, tables, notes and panels out."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from bench.brokering.beside_constructs import ConstructCost
from bench.brokering.delivering import Delivering
from bench.brokering.goals import GOALS, constructs_table, delivering_table, goal_figures
from bench.brokering.points import Point
from bench.brokering.saxon import Beside
from bench.brokering.standing import Standing
from bench.brokering.tables import (
    approaches_table,
    counts_table,
    operators_table,
    plan_sharing_costs_table,
    predicates_table,
    returns_table,
    saxon_table,
    shared_costs_table,
    sharing_table,
    sizes_table,
    unshared_costs_table,
)
from bench.brokering.ways import APPROACHES, OPTIMIZATIONS
from bench.brokering.workload import BATCH, FEW
from bench.goals import goals_table
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import short

#: The figures of a full run. A quick one has them for the sizes that it gets to, and None for the others.
KEYS = (
    "sharing_gain_100k",
    "growth_10k_to_100k",
    "delivered_growth",
    "us_per_group_100k",
    "mqpt_ms_10k",
    "mqpt_ms_100k",
    "groups_per_document_100k",
    "speedup_vs_saxon_1k",
    "fwr_over_f",
    "opt_gain_fwr",
    *GOALS,
)
_BEST = OPTIMIZATIONS[-1]
_Y_LABEL = "ms per document"


@dataclass(frozen=True, slots=True)
class Found:
    """The points of each figure, and Saxon; figures 8 and 9 are without the point that is figure 7's."""

    points: dict[str, list[Point]]
    beside: list[Beside]
    costs: list[ConstructCost]
    delivering: Delivering
    standing: Standing | None
    documents: int

    def series(self, figure: str, place: Callable[[Point], int]) -> list[Point]:
        """The points of a figure with that of the basic workload among them."""
        return sorted([*self.points["7"], *self.points[figure]], key=place)


def make_report(found: Found) -> Report:
    """All that one run gives."""
    figures = _figures(found)
    tables = goals_table(GOALS, figures), *_tables(found)
    return Report(figures, tables, (*_notes(found),), (*_panels(found),))


def _predicate_paths(point: Point) -> int:
    return point.setting.predicate_paths


def _return_paths(point: Point) -> int:
    return point.setting.return_paths


def _figures(found: Found) -> dict[str, Figure]:
    base = found.points["7"][0].ways
    first, last = found.points["12"][0], found.points["12"][-1]
    few, many = short(first.plans), short(last.plans)
    single = last.ways["FWR", _BEST]
    groups = [point.shared.per_document(lambda some: some.groups) for point in (first, last)]
    measured: dict[str, float | None] = {
        f"sharing_gain_{many}": single.ms / last.shared.ms,
        f"growth_{few}_to_{many}": last.shared.ms / first.shared.ms,
        "delivered_growth": groups[1] / groups[0],
        f"us_per_group_{many}": 1e3 * last.shared.ms / groups[1],
        f"mqpt_ms_{few}": first.shared.ms,
        f"mqpt_ms_{many}": last.shared.ms,
        f"unshared_mqpt_ms_{many}": single.ms,
        f"groups_per_document_{many}": groups[1],
        "plansharing_over_ours": last.ways["PlanSharing", _BEST].ms / last.shared.ms,
        "fwr_over_f": base["FWR", _BEST].ms / base["F", _BEST].ms,
        "opt_gain_fwr": base["FWR", "NoOpt"].ms / base["FWR", _BEST].ms,
    }
    for one, end in zip(found.beside, ("", "_bib"), strict=True):
        size = short(one.queries) + end
        measured[f"speedup_vs_saxon_{size}"] = one.speedup_groups  # MQPT, as all other figures here
        measured[f"speedup_vs_saxon_messages_{size}"] = one.speedup
    rounded = {key: None if value is None else float(f"{value:.4g}") for key, value in measured.items()}
    return dict.fromkeys(KEYS) | rounded | goal_figures(found.costs, found.delivering, found.standing) | _sizes(found)


def _sizes(found: Found) -> dict[str, Figure]:
    base, last = found.points["7"][0], found.points["12"][-1]
    return {
        "documents": found.documents,
        f"unshared_documents_{short(last.plans)}": last.ways["FWR", _BEST].documents,
        "queries_figure_7": base.queries,
        "f_documents_figure_7": base.ways["F", _BEST].documents,
        "fwr_documents_figure_7": base.ways["FWR", _BEST].documents,
        f"queries_of_{short(last.plans)}_plans": last.queries,
        "saxon_documents": found.beside[0].documents,
        "saxon": found.beside[0].reason or "measured",
    }


def _tables(found: Found) -> Iterator[Table]:
    (base,), (book,) = found.points["7"], found.points["10"]
    yield approaches_table("Figure 7", base)
    yield operators_table(base)
    yield counts_table(base)
    yield predicates_table(found.series("8", _predicate_paths))
    yield returns_table(found.series("9", _return_paths))
    yield approaches_table("Figure 10", book)
    yield sizes_table(found.points["11"])
    yield unshared_costs_table(found.points["12"])
    yield sharing_table(found.points["12"])
    yield shared_costs_table(found.points["12"])
    yield plan_sharing_costs_table(found.points["12"])
    yield saxon_table(found.beside)
    yield constructs_table(found.costs)
    yield delivering_table(found.delivering)


def _notes(found: Found) -> Iterator[str]:
    yield (
        f"Times are processor time per document, the mean, from the node table until all groups are there, in batches "
        f"of {BATCH} documents; under “batch 1” each document is a batch of its own."
    )
    yield (
        f"The shared plan was measured on {found.documents} documents after {BATCH} of warm-up. The others take a time "
        f"for each query: they got {FEW} documents of warm-up and were measured on as many as the last column says."
    )
    yield "All ways delivered as many groups and messages as the shared plan, on every batch that both got."
    yield (
        "F, FW, FWR are PathSharing, a plan for each query; PlanSharing has the merged plans of the paper's section 5. "
        "The paper measured on a Pentium III of 850 MHz, in Java."
    )
    yield "The longest calls are those of a process of its own, in which the collector runs and nothing is frozen."
    if all(not one.reason for one in found.beside):
        yield "The messages of Weft and Saxon were compared in canonical form for all documents of that table: equal."
    yield f"Python {platform.python_version()}, {_versions()}, {os.cpu_count()} cores."


def _versions() -> str:
    found = []
    for package in ("numpy", "lxml", "saxonche"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)


def _panels(found: Found) -> Iterator[Panel]:
    (base,), (book,) = found.points["7"], found.points["10"]
    predicates, returns = found.series("8", _predicate_paths), found.series("9", _return_paths)
    yield _bars("Figure 7: Bib", base)
    yield _lines("Figure 8: Bib", "predicate paths", predicates, [str(_predicate_paths(point)) for point in predicates])
    yield _lines("Figure 9: Bib", "return paths", returns, [str(_return_paths(point)) for point in returns])
    yield _bars("Figure 10: Book", book)
    yield _lines("Figure 11: Bib, MaxValue 100", "queries", found.points["11"])
    yield _lines("Figure 12: Book, MaxValue 100", "distinct plans", found.points["12"])


def _bars(title: str, point: Point) -> Panel:
    """The approaches by what is optimized."""
    curves = []
    for approach in APPROACHES:
        times = [point.ways[approach, optimization].ms for optimization in OPTIMIZATIONS]
        curves.append(Curve(approach, tuple(enumerate(times))))
    curves.append(Curve("shared plan", ((len(OPTIMIZATIONS) - 1, point.shared.ms),)))
    return Panel(title, "", _Y_LABEL, tuple(curves), OPTIMIZATIONS)


def _lines(title: str, label: str, points: list[Point], ticks: list[str] | None = None) -> Panel:
    """The approaches with all optimizations along a parameter: by its names, or by the number of plans."""
    places = [float(at) if ticks else point.plans for at, point in enumerate(points)]
    curves = []
    for approach in (*APPROACHES, "PlanSharing"):
        if (approach, _BEST) in points[0].ways:
            times = [point.ways[approach, _BEST].ms for point in points]
            curves.append(Curve(approach, tuple(zip(places, times, strict=True))))
    curves.append(Curve("shared plan", tuple((at, point.shared.ms) for at, point in zip(places, points, strict=True))))
    return Panel(title, label, _Y_LABEL, tuple(curves), tuple(ticks or ()))
