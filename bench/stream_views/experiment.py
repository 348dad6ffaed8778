"""How much the experiment on stream views measures, and in which order: an effort in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from rich.progress import Progress

from bench.measure import timed
from bench.report import Report
from bench.stream_views.brokers import measure_brokers
from bench.stream_views.draws import EXPONENTS, draw_misses
from bench.stream_views.parsers import PARSERS, written
from bench.stream_views.paying import ELEMENTS, pay
from bench.stream_views.probes import measure_probes
from bench.stream_views.report import make_report
from bench.stream_views.results import Point, Results
from bench.stream_views.routing import churn, route
from bench.stream_views.selection import TWO_THIRDS, hold_contest, make_views
from bench.stream_views.workload import EXPRESSIONS, Network, large_news, make_network
from weft.documents import Document
from weft.headers import HeaderMatcher, attach, configure
from weft.languages import parse

_SEED = 20
_EACH = 20  # subscriptions at each server of the tree while they change


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: the documents, the servers that are timed (of 10,000), and those that also parse."""

    documents: int = 32
    servers: int = 10_000
    parsing: int = 60
    instances: int = 20
    queries: int = 100_000
    routed: int = 300  # documents through a tree of 100 servers
    draws: int = 20  # of the servers' queries
    sizes: int = len(ELEMENTS)  # of documents, from the smallest on
    changes: int = 50  # of subscriptions in the tree


FULL = Effort()
QUICK = Effort(
    documents=24, servers=150, parsing=12, instances=4, queries=20_000, routed=40, draws=5, sizes=5, changes=10
)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


# Long: one measurement after the other, and each of them by its name in the results.
def measure(effort: Effort, progress: Progress) -> Report:
    """Figure 1 for three parsers and all header sizes; then the selections, the probes and the network."""
    task = progress.add_task("stream views", total=EXPRESSIONS + 7)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()

    documents = list(islice(large_news(_SEED), effort.documents))
    network = make_network(documents, _SEED)
    sampled = Random(_SEED).sample(network.servers, effort.servers)
    parse_us = {name: _parse_time(name, network, sampled[: effort.parsing], documents) for name in PARSERS}
    advance()
    views = make_views(network, documents, parse_us["expat"])
    points = [_point(0, (), network, sampled, documents)]
    for size in range(1, EXPRESSIONS + 1):
        points.append(_point(size, views.greedy[size], network, sampled, documents))
        advance()
    ours = _point(TWO_THIRDS, views.ours_same_bytes, network, sampled, documents)
    brokers = measure_brokers(network, sampled[: effort.parsing], documents, views.greedy[TWO_THIRDS])
    harder = _harder(documents, effort, parse_us["expat"])
    unbounded = _point(len(views.ours), views.ours, network, sampled, documents)
    advance()
    contest = hold_contest(effort.instances, _SEED)
    advance()
    probes = measure_probes(network, documents, effort.queries)
    advance()
    routed, changing = route(effort.routed), churn(_EACH, effort.changes)
    advance()
    draws = [draw_misses(exponent, effort.draws, TWO_THIRDS) for exponent in EXPONENTS]
    advance()
    paid = [pay(elements) for elements in ELEMENTS[: effort.sizes]]
    advance()
    average = sum(map(len, documents)) / len(documents)
    return make_report(
        Results(
            points=points,
            ours=ours,
            unbounded=unbounded,
            harder=harder,
            brokers=brokers,
            parse_us=parse_us,
            contest=contest,
            probes=probes,
            routed=routed,
            churn=changing,
            draws=draws,
            paid=paid,
            views=views,
            document_bytes=average,
            servers=len(sampled),
        )
    )


def _harder(documents: Sequence[bytes], effort: Effort, parse_us: float) -> tuple[Point, Point]:
    """15 views, and ours for the same bytes, where servers ask for rare expressions more often: Zipf's law with 1."""
    network = make_network(documents, _SEED, exponent=1.0)
    views = make_views(network, documents, parse_us)
    sampled = Random(_SEED).sample(network.servers, effort.servers)
    greedy = _point(TWO_THIRDS, views.greedy[TWO_THIRDS], network, sampled, documents)
    ours = _point(TWO_THIRDS, views.ours_same_bytes, network, sampled, documents)
    return greedy, ours


def _parse_time(
    parser: str, network: Network, servers: Sequence[Sequence[object]], documents: Sequence[bytes]
) -> float:
    """Microseconds a document and server without a header; each server has read half of the documents before."""
    answers = [PARSERS[parser](network.expressions, queries) for queries in servers]  # type: ignore[arg-type]
    half = len(documents) // 2

    def answer(given: Sequence[bytes]) -> None:
        for server in answers:
            for document in given:
                server(document)

    answer(documents[:half])
    seconds, _ = timed(answer, documents[half:])
    return seconds * 1e6 / len(answers) / (len(documents) - half)


def _point(
    size: int, views: Sequence[str], network: Network, servers: Sequence[Sequence[object]], documents: Sequence[bytes]
) -> Point:
    """Look-ups at each server with these views: microseconds a document, the share of misses, bytes of a header.

    Each server answers all documents before the next one does, as each would on a machine of its own.
    """
    configuration = configure("bench", views)
    sent = attach([Document(data, str(at)) for at, data in enumerate(documents)], configuration)
    matchers: list[HeaderMatcher] = []
    for queries in servers:
        matchers.append(HeaderMatcher(configuration))
        for number, query in enumerate(queries):
            matchers[-1].add(number, parse(written(network.expressions, query)))  # type: ignore[arg-type]
    seconds, misses = timed(_ask, (matchers, sent)) if views else (0.0, len(servers) * len(sent))
    pairs = len(servers) * len(sent)
    return Point(size, seconds * 1e6 / pairs, misses / pairs, sum(len(each.header or b"") for each in sent) / len(sent))


def _ask(given: tuple[Sequence[HeaderMatcher], Sequence[Document]]) -> int:
    matchers, documents = given
    misses = 0
    for matcher in matchers:
        answer: Callable[[Document], list[int] | None] = matcher.answer
        for document in documents:
            misses += answer(document) is None
    return misses
