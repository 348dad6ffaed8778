"""How much the brokering experiment measures, and in which order: an effort in, a report out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.progress import Progress

from bench.brokering.beside_constructs import measure_constructs
from bench.brokering.delivering import measure_delivering
from bench.brokering.points import Name, Point, Trial, measure_points
from bench.brokering.report import Found, make_report
from bench.brokering.saxon import measure_beside
from bench.brokering.standing import measure_standing
from bench.brokering.ways import APPROACHES, OPTIMIZATIONS
from bench.brokering.workload import BATCH, Feed, Setting, make_feed
from bench.report import Report

BEST: tuple[Name, ...] = tuple((approach, "Opt(q+dtd)") for approach in APPROACHES)
MERGED: tuple[Name, ...] = (*BEST[-1:], ("PlanSharing", "Opt(q+dtd)"))
ALL: tuple[Name, ...] = tuple((approach, optimization) for optimization in OPTIMIZATIONS for approach in APPROACHES)
_BIB, _BOOK = Setting("Bib"), Setting("Book")
_BIB_100, _BOOK_100 = Setting("Bib", values=100), Setting("Book", values=100)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: numbers of queries, documents, and the seconds for each way but the shared plan."""

    base: int = 5_000  # queries in figures 7 to 9
    predicate_paths: tuple[int, ...] = (1, 2, 3)
    return_paths: tuple[int, ...] = (1, 2, 3, 4)
    book: int = 10_000  # queries in figure 10
    bib_sizes: tuple[int, ...] = (5_000, 20_000, 40_000)
    plan_sizes: tuple[int, ...] = (10_000, 20_000, 50_000, 100_000)
    documents: int = 180
    seconds: float = 1.0
    saxon_queries: int = 1_000
    saxon_batches: int = 3
    construct_sizes: tuple[int, ...] = (1_000, 10_000)
    construct_batches: int = 6
    construct_alone: int = 100
    construct_saxon: int = 11  # documents that Saxon gets, the first of which warms it up
    delivering: int = 50_000
    standing: int = 100_000
    added: int = 5_000  # then, while documents flow
    removed: int = 60_000  # more than half: what nobody wants any more is swept out meanwhile


FULL = Effort()
QUICK = Effort(
    base=400,
    predicate_paths=(1, 3),
    return_paths=(2, 4),
    book=400,
    bib_sizes=(400, 800),
    plan_sizes=(1_000, 4_000),
    documents=60,
    seconds=0.0,
    saxon_batches=1,
    construct_sizes=(1_000, 2_000),
    construct_batches=1,
    construct_alone=20,
    construct_saxon=3,
    delivering=4_000,
    standing=4_000,
    added=200,
    removed=400,
)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """Figures 7 to 12 with their tables, then Saxon, constructs and delivery."""
    trials = make_trials(effort)
    points = sum(len(trial.sizes) for part in trials.values() for trial in part)
    task = progress.add_task("brokering", total=points + 5)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    feeds: dict[tuple[str, int], Feed] = {}
    found: dict[str, list[Point]] = {}
    for figure, part in trials.items():
        found[figure] = []
        for trial in part:
            key = trial.setting.dtd, trial.setting.values
            if key not in feeds:
                feeds[key] = make_feed(trial.setting, effort.documents, 4 * BATCH, 10)
            found[figure] += measure_points(trial, feeds[key], effort.seconds, advance)
    beside = []
    for setting in (_BOOK_100, _BIB):
        beside.append(measure_beside(setting, effort.saxon_queries, effort.saxon_batches))
        advance()
    costs = measure_constructs(
        effort.construct_sizes, effort.construct_batches, effort.construct_alone, effort.construct_saxon
    )
    advance()
    delivering = measure_delivering(_BOOK_100, effort.delivering, 3)
    advance()
    standing = measure_standing(_BOOK_100, effort.standing, effort.added, effort.removed)
    advance()
    return make_report(Found(found, beside, costs, delivering, standing, effort.documents))


def make_trials(effort: Effort) -> dict[str, list[Trial]]:
    """What to measure for each figure; the basic workload of figure 7 is also a point of figures 8 and 9."""
    base = (effort.base,)
    profiled = tuple(name for name in ALL if name[0] == "FWR" or name[1] == "NoOpt")
    predicates = [replace(_BIB, predicate_paths=paths) for paths in effort.predicate_paths]
    returns = [replace(_BIB, return_paths=paths) for paths in effort.return_paths]
    return {
        "7": [Trial(_BIB, base, ALL, profiled, singles=True)],
        "8": [Trial(setting, base, BEST) for setting in predicates if setting != _BIB],
        "9": [Trial(setting, base, BEST) for setting in returns if setting != _BIB],
        "10": [Trial(_BOOK, (effort.book,), ALL)],
        "11": [Trial(_BIB_100, effort.bib_sizes, BEST)],
        "12": [
            Trial(_BOOK_100, effort.plan_sizes, MERGED, MERGED, singles=True, distinct=True),
        ],
    }
