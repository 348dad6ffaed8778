"""How much the core experiment measures, and in which order: an effort in, a report out."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from rich.progress import Progress

from bench.batches import BATCH
from bench.brokers import load, numbered
from bench.contest import match_all
from bench.core.batching import documents_needed, measure_batches
from bench.core.churn import Churn
from bench.core.report import Found, StageRow, make_report
from bench.core.scanning import ScanTiming, measure_scan
from bench.core.skew import BESIDE, measure_skew
from bench.core.stages import measure_stages
from bench.core.threads import measure_threads
from bench.core.untouched import measure_untouched
from bench.health import health_documents
from bench.measure import Child, ChildLostError
from bench.news import news_documents, news_queries
from bench.report import Report
from weft import Broker

_ENDLESS = 1 << 40  # documents are made as they are needed
_SEED = 50  # of documents: none that another experiment has
_MEMORY_TIMEOUT = 300.0
_CHURN_TIMEOUT = 1_200.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured; `few` and `many` are numbers of queries."""

    few: int = 1_000
    many: int = 100_000
    warm_up: int = 512
    slices: int = 12  # of 64 documents
    large_slices: int = 12
    large_documents: int = 16  # in each slice
    batch_documents: int = 1_000  # for each size of batches in a round
    batch_rounds: int = 4
    thread_batches: int = 16
    thread_rounds: int = 5
    churn: int = 10_000
    skew_queries: int = 100_000
    skew_slices: int = 12
    skew_seconds: float = 30.0  # at most, about, for each kind
    untouched_queries: int = 100_000
    stage_paths: tuple[int, ...] = (1_000, 10_000, 100_000)
    stage_predicates: tuple[int, ...] = (1_000, 10_000, 100_000)
    memory_first: int = 1_000
    memory_more: int = 4_000


FULL = Effort()
QUICK = Effort(
    warm_up=256,
    slices=4,
    large_slices=5,
    large_documents=8,
    batch_rounds=2,
    thread_batches=4,
    thread_rounds=3,
    churn=800,
    skew_queries=10_000,
    skew_slices=4,
    skew_seconds=3.0,
    untouched_queries=20_000,
    stage_predicates=(1_000, 10_000),
    memory_first=500,
    memory_more=1_200,
)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """All that is timed, one after the other; the memory before, in a child of its own."""
    steps = 8 + len(BESIDE) + len(effort.stage_paths) + len(effort.stage_predicates)
    task = progress.add_task("core", total=steps)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    documents = news_documents(_ENDLESS, _SEED)
    for_batches, memory = prepare(effort, documents)
    advance()
    scans = measure_scans(effort, documents)
    advance()
    few = load(numbered(news_queries(effort.few, predicates=False)))
    batches = {effort.few: measure_broker(few, effort, for_batches)}
    threads = {"threads_2_publish": thread_gain(few.publish, effort, documents)}
    advance()
    many = load(numbered(news_queries(effort.many, predicates=False)))
    batches[effort.many] = measure_broker(many, effort, for_batches)
    threads["threads_2"] = thread_gain(many.matches, effort, documents)
    del many  # before the next is loaded
    advance()
    with_predicates = load(numbered(news_queries(effort.many, predicates=True)))
    match_all(with_predicates, list(islice(documents, effort.warm_up)))
    threads["threads_2_predicates"] = thread_gain(with_predicates.matches, effort, documents)
    threads["threads_2_of_the_machine"] = thread_gain(checksums, effort, documents)
    del with_predicates
    advance()
    churn, churn_predicates = (measure_change(effort, predicates) for predicates in (False, True))
    advance()
    untouched = measure_untouched(effort.untouched_queries, documents, effort.warm_up, effort.slices)
    advance()
    skews = {}
    for beside in BESIDE:
        skews[beside] = measure_skew(beside, effort.skew_queries, effort.skew_slices, effort.skew_seconds, _SEED)
        advance()
    rows = list(stage_rows(effort, documents, advance))
    counts = {"skew_queries": effort.skew_queries, "untouched_queries": effort.untouched_queries}
    return make_report(Found(memory, scans, batches, churn, churn_predicates, threads, untouched, skews, rows, counts))


def prepare(effort: Effort, documents: Iterator[bytes]) -> tuple[list[bytes], tuple[int, int, int] | None]:
    """Documents for a broker's batches; and by what a child grew meanwhile (see `memory`), None if it was lost."""
    child = Child("bench.core.memory", effort.many, effort.memory_first, effort.memory_more)
    try:
        number = effort.warm_up + documents_needed(effort.batch_documents, effort.batch_rounds)
        made = list(islice(documents, number))
        counted, label_paths, grown = child.ask(None, _MEMORY_TIMEOUT)
        return made, (int(counted), int(label_paths), int(grown))
    except ChildLostError:
        return made, None
    finally:
        child.close()


def measure_scans(effort: Effort, news: Iterator[bytes]) -> dict[str, ScanTiming]:
    """Small documents, and large ones."""
    records = health_documents(_ENDLESS, _SEED)
    found = {}
    for name, documents, slices, number in (
        ("small", news, effort.slices, BATCH),
        ("large", records, effort.large_slices, effort.large_documents),
    ):
        warm_up = list(islice(documents, number))
        found[name] = measure_scan(warm_up, [list(islice(documents, number)) for _ in range(slices)])
    return found


def measure_broker(broker: Broker, effort: Effort, documents: list[bytes]) -> dict[int, float]:
    """Warm it up, then the time a document by the size of its batch."""
    match_all(broker, documents[: effort.warm_up])
    fresh = iter(documents[effort.warm_up :])
    gc.collect()
    gc.freeze()  # or the collector would walk what the broker keeps, at the cost of the size it strikes
    try:
        return measure_batches(broker, fresh, effort.batch_documents, effort.batch_rounds)
    finally:
        gc.unfreeze()


def thread_gain(work: Callable[[list[bytes]], object], effort: Effort, documents: Iterator[bytes]) -> float:
    """How many times as fast as one two threads are."""
    return measure_threads(work, documents, effort.thread_batches, effort.thread_rounds)


def checksums(documents: list[bytes]) -> None:
    """What shares nothing and waits for no lock: what two threads gain here is what the machine has for them."""
    together = b"".join(documents)
    for _ in range(64):
        hashlib.sha256(together)


def measure_change(effort: Effort, predicates: bool) -> Churn:
    """By a child, which has nothing else."""
    child = Child("bench.core.churn", effort.many, predicates, effort.warm_up, effort.churn, _SEED)
    try:
        churn: Churn = child.ask(None, _CHURN_TIMEOUT)
        return churn
    finally:
        child.close()


def stage_rows(effort: Effort, documents: Iterator[bytes], after_row: Callable[[], object]) -> Iterator[StageRow]:
    """The stages for each number of paths, then with predicates; all on the same documents, which are new to each."""
    warm_up = list(islice(documents, effort.warm_up))
    slices = [list(islice(documents, BATCH)) for _ in range(effort.slices)]
    for predicates, sizes in ((False, effort.stage_paths), (True, effort.stage_predicates)):
        queries = news_queries(max(sizes), predicates=predicates)
        for size in sizes:
            yield StageRow(size, predicates, measure_stages(queries[:size], predicates, warm_up, slices))
            after_row()
