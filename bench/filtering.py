"""Filtering: time per document against the number of queries, beside loops of lxml and pygixml over all queries."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from rich.progress import Progress

from bench.changes import Changes, documents_needed, measure_changes
from bench.contest import Sample, hold_contest, match_all
from bench.filtering_report import Round, Upkeep, make_report
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
    slices: int = 12
    documents: int = 128  # in each slice
    samples: tuple[Sample, ...] = (Sample(20), Sample(5), Sample(2))
    changes: int = 31
    memory_documents: int = 1_000


FULL = Effort()
QUICK = Effort(warm_up=256, slices=4, documents=64, samples=(Sample(8), Sample(3), Sample(3, every=10)))


@dataclass(frozen=True, slots=True)
class Documents:
    """Three lists without a document in common, so that what is measured is always new to the broker."""

    warm_up: list[bytes]
    slices: list[list[bytes]]
    single: list[bytes]


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """Every size with and without predicates; then, at the largest number of paths, changes and memory."""
    task = progress.add_task("filtering", total=2 * len(effort.sizes) * effort.slices + 1)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    rss = memory(effort)
    advance()
    documents = make_documents(effort)
    rounds: list[Round] = []
    for predicates in (False, True):
        queries = news_queries(max(effort.sizes) + effort.changes, predicates=predicates)
        for size, sample in zip(effort.sizes, effort.samples, strict=True):
            one, broker = hold_round(queries[:size], predicates, sample, documents, advance)
            rounds.append(one)
        if not predicates:
            changes = change(broker, queries[size:], documents.single)
        del broker  # before the next is loaded
    upkeep = Upkeep(changes, rss)
    return make_report(rounds, upkeep, mean(len(document) for some in documents.slices for document in some))


def make_documents(effort: Effort) -> Documents:
    """All documents of a run; every broker of it gets the same."""
    made = news_documents(effort.warm_up + effort.slices * effort.documents + documents_needed(effort.changes))
    warm_up = [next(made) for _ in range(effort.warm_up)]
    slices = [[next(made) for _ in range(effort.documents)] for _ in range(effort.slices)]
    return Documents(warm_up, slices, list(made))


def hold_round(
    queries: list[str], predicates: bool, sample: Sample, documents: Documents, after_slice: Callable[[], object]
) -> tuple[Round, Broker]:
    """Load a broker, warm it up, and time it beside the loops."""
    gc.collect()
    named = {str(number): query for number, query in enumerate(queries)}
    seconds, broker = timed(load, named)
    match_all(broker, documents.warm_up)
    standing = hold_contest(broker, named, documents.slices, sample, after_slice)
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


def memory(effort: Effort) -> float | None:
    """The MB of a fresh process with the largest number of paths, after matching."""
    child = Child("bench.memory", max(effort.sizes), effort.memory_documents)
    try:
        return float(child.ask(None, _MEMORY_TIMEOUT))
    except ChildLostError:
        return None
    finally:
        child.close()
