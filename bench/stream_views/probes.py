"""Workloads that would hurt: what a header costs to make, at a miss, with very many queries, and when they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.measure import timed
from bench.stream_views.header_cost import HeaderCost, measure_cost, portions, time_scans
from bench.stream_views.workload import Network
from weft import Broker
from weft.documents import Document
from weft.headers import Configuration, HeaderMatcher, Producer, attach, configure
from weft.languages import parse as _parse

_ROUNDS = 5
_IDLE, _KINDS, _HOT = 1_000, 200, 20_000


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
    hot: HotDrivers


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
    header_us: float  # to make a header, beyond a narrow scan
    us: float  # a look-up, at a server with queries for all of them
    parsed_share: float
    one_header_us: float
    one_us: float


@dataclass(frozen=True, slots=True)
class HotDrivers:
    """So many queries of two tests, one of which every document passes: microseconds a document."""

    number: int
    first_us: float  # that test is the same in all queries, and written first
    last_us: float  # or last
    begun_us: float  # its constant is another one in each query: the first document
    seen_us: float  # and those after them
    parsed_us: float  # the first queries, without headers


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
        measure_cost(configuration, batch),
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
        _hot(),
    )


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
    timings = [time_scans(Producer(each), portions(batch)) for each in (many, one)]
    costs = [(each.headers - each.narrow) * 1e6 / len(batch) for each in timings]
    return Kinds(_KINDS, costs[0], many_us, parsed, costs[1], one_us)


def _hot() -> HotDrivers:
    """Tests that would bring up every query for every document, beside tests that no document passes."""
    given = "<m><lang>en</lang><size>5</size><id>{}</id><p>" + "x" * 2_000 + "</p></m>"
    batch = [Document(given.format(at).encode(), str(at)) for at in range(50)]
    configuration = configure("hot", ["/m/lang", "/m/size", "/m/id"])
    sent = attach(batch, configuration)
    tests = "[lang = 'en']", "[id = 'x{0}']", "[size < 1{0:06}]", "[contains(id, 'x{0}')]"
    forms = tests[0] + tests[1], tests[1] + tests[0], tests[2] + tests[3]
    first, last, seen = (_matcher(configuration, [f"/m{form.format(at)}" for at in range(_HOT)]) for form in forms)
    begun, _ = timed(lambda _: seen.answer(sent[0]), None)
    for document in sent:
        seen.answer(document)
    broker = Broker()
    for at in range(_HOT):
        broker.subscribe(f"/m{forms[0].format(at)}")
    broker.matches(batch)
    parsed, _ = timed(broker.matches, batch)
    return HotDrivers(
        _HOT, _each(first, sent), _each(last, sent), begun * 1e6, _each(seen, sent), parsed * 1e6 / len(batch)
    )


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
