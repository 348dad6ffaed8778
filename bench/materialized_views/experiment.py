"""How much the experiment on materialized views measures, and in which order: an effort in, a report out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from rich.progress import Progress

from bench.materialized_views.arena import CHARACTERISTICS
from bench.materialized_views.curves import Curves, draw_curves
from bench.materialized_views.hurting import measure_hurting
from bench.materialized_views.model import Share, compare, weigh
from bench.materialized_views.probes import measure_answers, measure_containment, measure_refresh
from bench.materialized_views.report import Results, make_report
from bench.materialized_views.workload import Overlap, make_setting
from bench.report import Report

_SEED = 5
_OVERLAPS: tuple[Overlap, ...] = ("few", "many")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: the sources in bytes each, the queries, the space limits that are run, and the rest."""

    source_bytes: int = 200_000
    queries: int = 20
    shares: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
    rounds: int = 2  # of each query; the least time counts
    drawn: int = 3  # random choices that are run
    instances: int = 6  # of each kind, for the contest
    instance_bytes: int = 200_000
    asked: int = 200  # queries for which views are searched
    file_bytes: tuple[int, ...] = (10_000_000, 30_000_000)  # that are refreshed; the last is the figure
    answered_bytes: int = 1_000_000  # of the document that Saxon has too
    stored_views: tuple[int, ...] = (10, 100, 1_000)
    many_sources: tuple[int, ...] = (1, 10, 100)
    large_bytes: int = 20_000_000  # of one answer
    refreshes: int = 40  # small ones
    kinds: tuple[str, ...] = tuple(CHARACTERISTICS)


FULL = Effort()
QUICK = Effort(
    source_bytes=50_000,
    queries=10,
    shares=(0.0, 0.5, 1.0),
    instances=2,
    drawn=2,
    instance_bytes=20_000,
    asked=40,
    file_bytes=(3_000_000,),
    stored_views=(10, 100),
    many_sources=(1, 10),
    large_bytes=2_000_000,
    refreshes=5,
    answered_bytes=300_000,
)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """The curves over HTTP, the contest by the model, the single steps."""
    settings = list(product(_OVERLAPS, effort.kinds))
    task = progress.add_task("materialized views", total=len(settings) + 5)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()

    curves: list[Curves] = []
    for overlap, kind in settings:
        curves.append(
            draw_curves(
                _SEED,
                overlap,
                kind,
                effort.source_bytes,
                effort.queries,
                effort.shares,
                effort.rounds,
                effort.drawn,
            )
        )
        advance()
    contest = {setting: _hold_contest(effort, *setting) for setting in settings}
    advance()
    containment = measure_containment(_SEED, effort.asked)
    advance()
    refreshed = [measure_refresh(size, _SEED) for size in effort.file_bytes]
    advance()
    answered = measure_answers(effort.answered_bytes, _SEED)
    advance()
    hurting = measure_hurting(effort.stored_views, effort.many_sources, effort.large_bytes, effort.refreshes)
    advance()
    return make_report(Results(curves, contest, containment, refreshed, answered, hurting, 5 * effort.source_bytes))


def _hold_contest(effort: Effort, overlap: Overlap, kind: str) -> list[Share]:
    """Each way of choosing on instances of a kind, by the cost model."""
    shares = []
    for seed in range(100, 100 + effort.instances):
        setting = make_setting(seed, overlap, (effort.instance_bytes,) * 5, effort.queries)
        shares.append(compare(weigh(setting, CHARACTERISTICS[kind]), seed))
    return shares
