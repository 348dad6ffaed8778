"""Workloads that would hurt: what a header costs to make, at a miss, with very many queries, and when they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.measure import timed
from bench.news import news_documents
from bench.stream_views.workload import Network
from weft import Broker
from weft.documents import Document, read
from weft.headers import Configuration, HeaderMatcher, Producer, attach, configure
from weft.languages import parse as _parse

_ROUNDS = 5
_IDLE, _KINDS = 1_000, 200


@dataclass(frozen=True, slots=True)
class Probes:
    """What was found; times in microseconds."""

    cost: HeaderCost
    miss_us: float  # what a header costs that does not tell enough
    foreign_us: float  # and one of another document
    few_us: float  # a server with a few queries
    many_us: float  # and one with very many, of which the documents touch few
    many: int
    many_parsed_us: float  # the same server without headers
    several_share: float  # documents that must be parsed, where one in four views has several nodes
    change_us: float  # to add a query to very many, and to remove it
    idle: IdleViews
    kinds: Kinds


@dataclass(frozen=True, slots=True)
class IdleViews:
    """So many views that nobody asks for, beside those of the experiment: a look-up with them, and a header."""

    number: int
    us: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Kinds:
    """So many configurations, each for documents with a root of their own; and one for all, to compare."""

    number: int
    header_us: float  # to make a header, beyond the scan
    us: float  # a look-up, at a server with queries for all of them
    parsed_share: float
    one_header_us: float
    one_us: float


@dataclass(frozen=True, slots=True)
class HeaderCost:
    """Scan and header over the scan alone: one document at a time, many, and many small ones; and microseconds."""

    ratio: float
    ratio_batch: float
    ratio_small: float
    header_us: float  # scan and header, a document
    small_us: float  # what the header of a small one costs beyond its scan


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
        _cost(configuration, batch),
        _each(missing, sent),
        _each(few, foreign),
        _each(few, sent),
        _each(large, sent),
        many,
        parsed * 1e6 / len(batch),
        _several(network, documents),
        _changing(large),
        _idle(network, batch),
        _kinds(),
    )


def _cost(configuration: Configuration, batch: list[Document]) -> HeaderCost:
    """Documents as in the experiment, and small ones of 4 KB."""
    producer = Producer(configuration)
    small = [Document(data, str(at)) for at, data in enumerate(news_documents(200))]
    alone, with_header = _least(
        lambda: [read([each]) for each in batch], lambda: [producer.attach([each]) for each in batch]
    )
    together = _least(lambda: read(batch), lambda: producer.attach(batch))
    smalls = _least(lambda: read(small), lambda: producer.attach(small))
    return HeaderCost(
        with_header / alone,
        together[1] / together[0],
        smalls[1] / smalls[0],
        with_header * 1e6 / len(batch),
        (smalls[1] - smalls[0]) * 1e6 / len(small),
    )


def _least(*functions: Callable[[], object]) -> list[float]:
    """The least seconds of each, in turns, after one that does not count."""
    for function in functions:
        function()
    rounds = [[timed(_call, function)[0] for function in functions] for _ in range(2 * _ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _call(function: Callable[[], object]) -> object:
    return function()


def _idle(network: Network, batch: list[Document]) -> IdleViews:
    """Views that nobody asks for: their entries travel, and are passed over at every server."""
    idle = [f"/news/body/nobody{at}" for at in range(_IDLE)]
    configuration = configure("idle", [*network.expressions, *idle])
    sent = attach(batch, configuration)
    header_bytes = sum(len(each.header or b"") for each in sent) / len(sent)
    return IdleViews(_IDLE, _each(_matcher(configuration, _distinct(network, 10)), sent), header_bytes)


def _kinds() -> Kinds:
    """Very many kinds of documents, each with a configuration; one server has queries for all of them."""
    kinds = [f"kind{at}" for at in range(_KINDS)]
    inside = "".join(f"<v{at}>{at}</v{at}>" for at in range(10)) + "<p>some text</p>" * 200
    batch = [Document(f"<{kind}>{inside}</{kind}>".encode(), kind) for kind in kinds]
    many = [configure(kind, [f"/{kind}/v{at}" for at in range(10)], root=kind) for kind in kinds]
    one = configure("all", [f"/*/v{at}" for at in range(10)])
    queries = [f"/{kind}[v{at} = 'nobody']" for kind in kinds for at in range(2)]
    for_all = [f"/*[v{at} = 'nobody']" for at in range(10)]
    many_us, parsed = _by_kinds(many, queries, batch)
    one_us = _by_kinds([one], for_all, batch)[0]
    for_many, for_one = Producer(many), Producer(one)
    scan, *made = _least(lambda: read(batch), lambda: for_many.attach(batch), lambda: for_one.attach(batch))
    costs = [(seconds - scan) * 1e6 / len(batch) for seconds in made]
    return Kinds(_KINDS, costs[0], many_us, parsed, costs[1], one_us)


def _by_kinds(configurations: list[Configuration], queries: list[str], batch: list[Document]) -> tuple[float, float]:
    matcher = HeaderMatcher(configurations)
    for number, query in enumerate(queries):
        matcher.add(number, _parse(query))
    sent = attach(batch, configurations)
    return _each(matcher, sent), 1 - matcher.hits / sum(matcher.counts.values())


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
