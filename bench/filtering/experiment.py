"""How much the filtering experiment measures, and in which order: an effort in, a report out."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from rich.progress import Progress

from bench.contest import Sample, hold_contest, match_all
from bench.filtering.changes import Changes, documents_needed, measure_changes
from bench.filtering.report import Round, Upkeep, make_report
from bench.measure import Child, ChildLostError, timed
from bench.news import news_documents, news_queries
from bench.report import Report
from weft import Broker

_MEMORY_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured; `samples` says for each size what the loops get."""

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    warm_up: int = 512
    slices: int = 24
    documents: int = 64  # in each slice
    samples: tuple[Sample, ...] = (Sample(10), Sample(3), Sample(1))
    changes: int = 40
    memory_documents: int = 1_000


FULL = Effort()
QUICK = Effort(warm_up=256, slices=3, samples=(Sample(60), Sample(3, every=5), Sample(3, every=25)), changes=25)


@dataclass(frozen=True, slots=True)
class Workload:
    """Documents in three lists that share none, so that what is measured is new to its broker; queries of both kinds.

    The queries have predicates or have not; the most that are loaded come first, then those that are added later.
    """

    warm_up: list[bytes]
    slices: list[list[bytes]]
    single: list[bytes]
    queries: dict[bool, list[str]]


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """Every size with and without predicates; changes and memory at the largest number of paths."""
    task = progress.add_task("filtering", total=2 * len(effort.sizes) * effort.slices)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    workload, rss = prepare(effort)
    rounds: list[Round] = []
    for predicates, queries in workload.queries.items():
        for size, sample in zip(effort.sizes, effort.samples, strict=True):
            one, broker = hold_round(queries[:size], predicates, sample, workload, advance)
            rounds.append(one)
        if not predicates:
            changes = change(broker, queries[size:], workload.single)
        del broker  # before the next is loaded
    document_bytes = mean(len(document) for documents in workload.slices for document in documents)
    return make_report(rounds, Upkeep(changes, rss), document_bytes)


def prepare(effort: Effort) -> tuple[Workload, float | None]:
    """The workload, and the MB of a fresh process with the most paths after matching; nothing is timed meanwhile."""
    child = Child("bench.filtering.memory", max(effort.sizes), effort.memory_documents)
    try:
        workload = make_workload(effort)
        return workload, float(child.ask(None, _MEMORY_TIMEOUT))
    except ChildLostError:
        return workload, None
    finally:
        child.close()


def make_workload(effort: Effort) -> Workload:
    """All documents and queries of a run; every broker of it gets the same."""
    made = news_documents(effort.warm_up + effort.slices * effort.documents + documents_needed(effort.changes))
    warm_up = [next(made) for _ in range(effort.warm_up)]
    slices = [[next(made) for _ in range(effort.documents)] for _ in range(effort.slices)]
    number = max(effort.sizes) + effort.changes
    queries = {predicates: news_queries(number, predicates=predicates) for predicates in (False, True)}
    return Workload(warm_up, slices, list(made), queries)


def hold_round(
    queries: list[str], predicates: bool, sample: Sample, workload: Workload, after_slice: Callable[[], object]
) -> tuple[Round, Broker]:
    """Load a broker, warm it up, and time it beside the loops."""
    gc.collect()
    named = {str(number): query for number, query in enumerate(queries)}
    seconds, broker = timed(load, named)
    match_all(broker, workload.warm_up)
    standing = hold_contest(broker, named, workload.slices, sample, after_slice)
    return Round(len(queries), predicates, sample, standing, len(queries) / seconds, label_paths(broker)), broker


def load(queries: dict[str, str]) -> Broker:
    """A broker with these subscriptions, each read, planned and added."""
    broker = Broker()
    for name, query in queries.items():
        broker.subscribe(query, id=name)
    return broker


def change(broker: Broker, fresh: list[str], documents: list[bytes]) -> Changes:
    """Add the fresh queries to a warm broker, and take away as many old ones from all over."""
    added = {f"added {number}": query for number, query in enumerate(fresh)}
    removed = [str(number * len(broker) // len(fresh)) for number in range(len(fresh))]
    return measure_changes(broker, added, removed, iter(documents))


def label_paths(broker: Broker) -> int | None:
    """How many label paths the broker has seen, as it tells itself."""
    found = re.search(r"label paths +(\d+)", broker.explain())
    return int(found[1]) if found else None
