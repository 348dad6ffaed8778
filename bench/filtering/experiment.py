"""How much the filtering experiment measures, and in which order: an effort in, a report out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import mean

from rich.progress import Progress

from bench.brokers import label_paths, load, numbered
from bench.contest import Sample, hold_contest, match_all
from bench.filtering.changes import Changes, documents_needed, measure_changes
from bench.filtering.report import Round, Upkeep, make_report
from bench.health import health_documents, health_queries
from bench.measure import Child, ChildLostError, timed
from bench.news import news_documents, news_queries
from bench.report import Report
from weft import Broker

_MEMORY_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured; `samples` says for each size what the loops get.

    `few` queries are asked of small documents and of large ones, and there the loops get all of them.
    """

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    warm_up: int = 512
    slices: int = 24
    documents: int = 64  # in each slice
    samples: tuple[Sample, ...] = (Sample(10), Sample(3), Sample(1))
    few: int = 100
    large_warm_up: int = 48
    large_slices: int = 12
    large_documents: int = 16  # in each slice
    changes: int = 40
    memory_documents: int = 1_000


FULL = Effort()
QUICK = Effort(
    warm_up=256,
    slices=3,
    samples=(Sample(60), Sample(3, every=5), Sample(3, every=25)),
    large_warm_up=24,
    large_slices=5,
    large_documents=8,
    changes=25,
)


@dataclass(frozen=True, slots=True)
class Documents:
    """Two lists that share none, so that what is measured is new to its broker."""

    warm_up: list[bytes]
    slices: list[list[bytes]]

    @property
    def mean_bytes(self) -> float:
        """How large a document is that is timed."""
        return mean(len(document) for documents in self.slices for document in documents)


@dataclass(frozen=True, slots=True)
class Workload:
    """News, health records, news to be matched one by one; queries of both kinds.

    The queries have predicates or have not; the most that are loaded come first, then those that are added later.
    """

    news: Documents
    records: Documents
    single: list[bytes]
    queries: dict[bool, list[str]]


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """Every size with and without predicates; changes and memory at the largest number of paths."""
    slices = (len(effort.sizes) + 1) * effort.slices + effort.large_slices
    task = progress.add_task("filtering", total=2 * slices)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    workload, rss = prepare(effort)
    rounds: list[Round] = []
    for predicates, queries in workload.queries.items():
        rounds += few_rounds(effort.few, predicates, workload, advance)
        for size, sample in zip(effort.sizes, effort.samples, strict=True):
            one, broker = hold_round(queries[:size], predicates, sample, workload.news, advance)
            rounds.append(one)
        if not predicates:
            changes = change(broker, queries[size:], workload.single)
        del broker  # before the next is loaded
    return make_report(rounds, Upkeep(changes, rss), workload.news.mean_bytes, workload.records.mean_bytes)


def prepare(effort: Effort) -> tuple[Workload, dict[bool, float | None]]:
    """The workload, and the MB of fresh processes with the most queries after matching; nothing is timed meanwhile."""
    children = {
        predicates: Child("bench.filtering.memory", max(effort.sizes), effort.memory_documents, predicates)
        for predicates in (False, True)
    }
    try:
        workload = make_workload(effort)
        return workload, {predicates: _answer(child) for predicates, child in children.items()}
    finally:
        for child in children.values():
            child.close()


def _answer(child: Child) -> float | None:
    try:
        return float(child.ask(None, _MEMORY_TIMEOUT))
    except ChildLostError:
        return None


def make_workload(effort: Effort) -> Workload:
    """All documents and queries of a run; every broker of it gets the same."""
    made = news_documents(effort.warm_up + effort.slices * effort.documents + documents_needed(effort.changes))
    news = _take(made, effort.warm_up, effort.slices, effort.documents)
    large = health_documents(effort.large_warm_up + effort.large_slices * effort.large_documents)
    records = _take(large, effort.large_warm_up, effort.large_slices, effort.large_documents)
    number = max(effort.sizes) + effort.changes
    queries = {predicates: news_queries(number, predicates=predicates) for predicates in (False, True)}
    return Workload(news, records, list(made), queries)


def _take(made: Iterator[bytes], warm_up: int, slices: int, documents: int) -> Documents:
    first = list(islice(made, warm_up))
    return Documents(first, [list(islice(made, documents)) for _ in range(slices)])


def few_rounds(few: int, predicates: bool, workload: Workload, after_slice: Callable[[], object]) -> Iterator[Round]:
    """A few queries on small documents, then as many on large ones."""
    small, large = workload.queries[predicates][:few], health_queries(few, predicates=predicates)
    for kind, queries, documents in (("small", small, workload.news), ("large", large, workload.records)):
        sample = Sample(len(documents.slices[0]))
        one, _ = hold_round(queries, predicates, sample, documents, after_slice, kind)
        yield one


def hold_round(
    queries: list[str],
    predicates: bool,
    sample: Sample,
    documents: Documents,
    after_slice: Callable[[], object],
    kind: str = "",
) -> tuple[Round, Broker]:
    """Load a broker, warm it up, and time it beside the loops."""
    gc.collect()
    named = numbered(queries)
    seconds, broker = timed(load, named)
    match_all(broker, documents.warm_up)
    standing = hold_contest(broker, named, documents.slices, sample, after_slice)
    loaded = len(queries) / seconds
    return Round(len(queries), predicates, kind, sample, standing, loaded, label_paths(broker)), broker


def change(broker: Broker, fresh: list[str], documents: list[bytes]) -> Changes:
    """Add the fresh queries to a warm broker, and take away as many old ones from all over."""
    added = {f"added {number}": query for number, query in enumerate(fresh)}
    removed = [str(number * len(broker) // len(fresh)) for number in range(len(fresh))]
    return measure_changes(broker, added, removed, iter(documents))
