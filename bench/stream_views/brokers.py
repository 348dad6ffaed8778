"""Servers that are brokers, which parse at a miss by themselves, with headers of one size: the curve reckons that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.measure import timed
from bench.stream_views.parsers import written
from bench.stream_views.workload import Ask, Network
from weft import Broker
from weft.documents import Document
from weft.headers import attach, configure


@dataclass(frozen=True, slots=True)
class Brokers:
    """Microseconds a document and server, one document at a time."""

    with_headers_us: float
    without_us: float
    misses: float  # the share of documents that had to be parsed

    def reckoned_us(self, look_up_us: float) -> float:
        """With headers, as the curve has it: what looking up takes, and misses times what parsing takes."""
        return look_up_us + self.misses * self.without_us


def measure_brokers(
    network: Network, servers: Sequence[tuple[Ask, ...]], documents: Sequence[bytes], views: Sequence[str]
) -> Brokers:
    """Each server is timed with the second half of the documents, when it has answered the first."""
    configuration = configure("bench", views)
    bare = [Document(data, str(at)) for at, data in enumerate(documents)]
    sent = attach(bare, configuration)
    half = len(bare) // 2
    spent = {"with": 0.0, "without": 0.0}
    hits = 0
    for queries in servers:
        brokers = {"with": Broker(headers=configuration), "without": Broker()}
        for query in queries:
            for broker in brokers.values():
                broker.subscribe(written(network.expressions, query))
        for name, given in (("with", sent), ("without", bare)):
            _answer((brokers[name], given[:half]))
            before = brokers[name].header_counts.get("hit", 0)
            spent[name] += timed(_answer, (brokers[name], given[half:]))[0]
            hits += brokers[name].header_counts.get("hit", 0) - before
    pairs = len(servers) * (len(bare) - half)
    return Brokers(spent["with"] * 1e6 / pairs, spent["without"] * 1e6 / pairs, 1 - hits / pairs)


def _answer(given: tuple[Broker, Sequence[Document]]) -> None:
    broker, documents = given
    for document in documents:
        broker.matches(document)
