"""The workloads of the filtering, brokering and joins benches, with what brings conditions up chosen, and not.

Choosing has to cost nothing where there is nothing to gain. Two brokers take turns on the same new documents, and who
is first changes with every turn, as the first finds them cold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import sqrt
from random import Random
from statistics import median

from bench.brokering.workload import Setting, dtd_of
from bench.brokering.workload import make_documents as brokering_documents
from bench.brokering.workload import make_queries as brokering_queries
from bench.goals import Goal
from bench.in_or_out.section import Section
from bench.joins.workload import FEED, make_items, query_text
from bench.measure import timed
from bench.news import news_documents, news_queries
from bench.report import Table
from bench.table import compact
from weft import Broker, Document, Dtd

Batch = Sequence[Document | bytes]
CASES, _MOST = 5, 1.03
_GOALS = {
    f"optimizer_over_fixed_{name}": Goal(f"the workloads of {name}: choosing over not choosing, time", most=_MOST)
    for name in ("filtering", "brokering", "joins")
}


@dataclass(frozen=True, slots=True)
class BesideEffort:
    """How much is measured: queries, documents in a turn, turns before and while it is timed."""

    queries: int = 10_000
    joins: int = 1_000
    documents: int = 64
    warm_up: int = 60
    turns: int = 60


FULL_BESIDE = BesideEffort()
QUICK_BESIDE = BesideEffort(queries=3_000, joins=300, warm_up=24, turns=24)


@dataclass(frozen=True, slots=True)
class _Case:
    """Queries and documents of one bench, and what is asked of a broker there."""

    key: str
    title: str
    queries: Sequence[str]
    documents: Iterator[Document | bytes]
    ask: Callable[[Broker, Batch], int]
    dtd: Dtd | None = None
    share: int = 1  # of the documents of a turn that are taken: messages cost more than matches


def measure_beside_fixed(effort: BesideEffort, advance: Callable[[], object]) -> Section:
    """The worst of each bench's workloads as a figure, and all of them in a table."""
    figures: dict[str, float] = {}
    rows = []
    for case in _cases(effort):
        ratio, micros = _compare(case, effort)
        figures[case.key] = max(ratio, figures.get(case.key, 0.0))
        rows.append((case.title, *map(compact, micros), f"{ratio:.3f}"))
        advance()
    columns = ("workload", "chosen µs", "fixed µs", "chosen over fixed")
    return Section(figures, _GOALS, (Table("The other benches' workloads, µs a document", columns, tuple(rows)),))


def _cases(effort: BesideEffort) -> Iterator[_Case]:
    number = (effort.warm_up + effort.turns + 1) * effort.documents
    for predicates in (False, True):
        queries = news_queries(effort.queries, predicates=predicates)
        title = f"filtering: {effort.queries:,} {'predicates' if predicates else 'paths'} on news"
        yield _Case("optimizer_over_fixed_filtering", title, queries, news_documents(number), _matched)
    for setting in (Setting("Bib"), Setting("Book", values=100, predicate_paths=2)):
        queries, documents = brokering_queries(setting, effort.queries // 5), brokering_documents(setting, number)
        title = f"brokering: {effort.queries // 5:,} on {setting.dtd}"
        yield _Case("optimizer_over_fixed_brokering", title, queries, documents, _published, dtd_of(setting), 8)
    places, random = range(len(FEED.leaves)), Random(1)
    sizes = random.choices((1, 2, 3), (6, 3, 1), k=effort.joins)
    pairs = [tuple(zip(random.sample(places, size), random.sample(places, size), strict=True)) for size in sizes]
    joined, title = [query_text(FEED, joins) for joins in pairs], f"joins: {effort.joins:,} on a feed"
    yield _Case("optimizer_over_fixed_joins", title, joined, make_items(number, 1), _joined, share=8)


def _matched(broker: Broker, batch: Batch) -> int:
    return sum(map(len, broker.matches(batch)))


def _published(broker: Broker, batch: Batch) -> int:
    return sum(len(node) for message in broker.publish(batch) for node in message.nodes)


def _joined(broker: Broker, batch: Batch) -> int:
    return len(broker.publish(batch))


def _compare(case: _Case, effort: BesideEffort) -> tuple[float, tuple[float, float]]:
    """Time with choosing over time without, the median of pairs of turns; and the µs of both."""
    brokers = [Broker(dtd=case.dtd), Broker(dtd=case.dtd, optimizer="fixed")]
    for broker in brokers:
        for query in case.queries:
            broker.subscribe(query)
    documents = max(effort.documents // case.share, 1)
    turns = iter(lambda: list(islice(case.documents, documents)), [])
    for batch in islice(turns, effort.warm_up):
        for broker in brokers:
            case.ask(broker, batch)
    seconds: list[list[float]] = [[], []]
    for turn, batch in enumerate(islice(turns, effort.turns)):
        found = [0, 0]
        for which in (0, 1) if turn % 2 else (1, 0):
            took, found[which] = timed(partial(case.ask, brokers[which]), batch)
            seconds[which].append(took)
        assert found[0] == found[1], case.title
    ratios = [chosen / fixed for chosen, fixed in zip(*seconds, strict=True)]
    pairs = [sqrt(first * second) for first, second in zip(ratios[::2], ratios[1::2], strict=True)]
    micros = 1e6 * median(seconds[0]) / documents, 1e6 * median(seconds[1]) / documents
    return median(pairs), micros
