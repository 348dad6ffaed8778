"""Workloads that would hurt: what a header costs to make, at a miss, with very many queries, and when they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.measure import timed
from bench.stream_views.workload import Network
from weft import Broker
from weft.documents import Document, read
from weft.headers import Configuration, HeaderMatcher, Producer, attach, configure
from weft.languages import parse as _parse

_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Probes:
    """What was found; times in microseconds."""

    header_cost_ratio: float  # scan and header over the scan alone
    header_us: float  # scan and header, a document
    miss_us: float  # what a header costs that does not tell enough
    foreign_us: float  # and one of another document
    few_us: float  # a server with a few queries
    many_us: float  # and one with very many, of which the documents touch few
    many: int
    many_parsed_us: float  # the same server without headers
    several_share: float  # documents that must be parsed, where one in four views has several nodes
    change_us: float  # to add a query to very many, and to remove it


def measure_probes(network: Network, documents: Sequence[bytes], many: int) -> Probes:
    """One after the other, with the expressions of the experiment."""
    batch = [Document(data, str(at)) for at, data in enumerate(documents)]
    configuration = configure("bench", network.expressions)
    sent = attach(batch, configuration)
    other = attach(batch[::-1], configuration)
    foreign = [Document(mine.data, mine.id, header=theirs.header) for mine, theirs in zip(sent, other, strict=True)]
    missing = _matcher(configuration, [f"{network.expressions[0]}[. = 'x']", "//footnote//code"])
    few, large = (_matcher(configuration, _distinct(network, number)) for number in (10, many))
    broker = _broker(network, many)
    broker.matches(batch[:1])
    parsed, _ = timed(lambda _: [broker.matches(document) for document in batch], None)
    return Probes(
        *_cost_ratio(configuration, batch),
        _each(missing, sent),
        _each(few, foreign),
        _each(few, sent),
        _each(large, sent),
        many,
        parsed * 1e6 / len(batch),
        _several(network, documents),
        _changing(large),
    )


def _cost_ratio(configuration: Configuration, batch: list[Document]) -> tuple[float, float]:
    producer = Producer(configuration)
    producer.attach(batch)
    alone = with_header = 0.0
    for _ in range(_ROUNDS):
        alone += timed(read, batch)[0]
        with_header += timed(producer.attach, batch)[0]
    return with_header / alone, with_header * 1e6 / len(batch) / _ROUNDS


def _distinct(network: Network, number: int) -> list[str]:
    """Queries that differ, over all expressions, with constants that hardly any document has."""
    expressions = network.expressions
    return [f"{expressions[at % len(expressions)]}[. = 'nobody {at}']" for at in range(number)]


def _matcher(configuration: Configuration, queries: Sequence[str]) -> HeaderMatcher:
    matcher = HeaderMatcher(configuration)
    for number, query in enumerate(queries):
        matcher.add(number, _parse(query))
    return matcher


def _broker(network: Network, many: int) -> Broker:
    broker = Broker()
    for query in _distinct(network, many):
        broker.subscribe(query)
    return broker


def _each(matcher: HeaderMatcher, documents: Sequence[Document]) -> float:
    """Microseconds a document."""
    for document in documents:
        matcher.answer(document)
    seconds, _ = timed(lambda _: [matcher.answer(each) for _ in range(_ROUNDS) for each in documents], None)
    return seconds * 1e6 / len(documents) / _ROUNDS


def _several(network: Network, documents: Sequence[bytes]) -> float:
    """A server that asks for what most documents have several times: each of them is a miss, and parsed."""
    expressions = [*network.expressions[:3], "/news/body//paragraph"]
    sent = attach([Document(data, str(at)) for at, data in enumerate(documents)], configure("several", expressions))
    matcher = _matcher(configure("several", expressions), [f"{each}[. = 'x']" for each in expressions])
    return sum(matcher.answer(each) is None for each in sent) / len(sent)


def _changing(matcher: HeaderMatcher) -> float:
    """Add and remove queries at a server that has very many."""
    plans = [_parse(f"/news/@lang[. = 'new {at}']") for at in range(100)]

    def change(_: None) -> None:
        for number, plan in enumerate(plans):
            matcher.add(10_000_000 + number, plan)
        for number in range(len(plans)):
            matcher.remove(10_000_000 + number)

    return timed(change, None)[0] * 1e6 / len(plans)
