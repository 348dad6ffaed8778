"""A topology and documents in, a report out: every server evaluates what reaches it, one after the other.

The order is always the same, so are the results; only times differ. A delivery's latency is what the servers on the way
took for the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.broker.answers import chunks
from weft.documents.document import Document, Limits, as_documents
from weft.network.passage import Passage
from weft.network.report import Report
from weft.network.routes import Routes, find_routes
from weft.network.routing import Routing
from weft.network.running import RunningNetwork
from weft.network.seen import LATEST
from weft.network.topology import Topology


def simulate(
    topology: Topology,
    documents: Iterable[Document | bytes | str],
    *,
    limits: Limits | None = None,
    only: set[str] | None = None,
) -> Report:
    """Send documents through the network, and tell what happened; with `only`, at these servers.

    >>> from weft.network.generators import chain
    >>> report = simulate(chain(3).with_subscriptions({"s2": ["/news"]}), ["<news/>", "<weather/>"])
    >>> report.forwarded, report.flooded, [each.server for each in report.deliveries]
    (2, 4, ['s2'])
    """
    simulation = Simulation(topology, limits=limits, only=only)
    for batch in chunks(as_documents(documents)):
        simulation.publish(batch)
    return simulation.end()


class Simulation:
    """A network to which documents are given batch by batch, and whose subscriptions may change in between."""

    def __init__(
        self,
        topology: Topology,
        *,
        limits: Limits | None = None,
        latest: int = LATEST,
        only: set[str] | None = None,
        routing: Routing | None = None,
    ) -> None:
        self._only = only
        servers = None if only is None else _with_all_before(routing.routes if routing else find_routes(topology), only)
        self.network = RunningNetwork(topology, limits=limits, latest=latest, only=servers, told=only, routing=routing)
        self.subscribe, self.unsubscribe = self.network.subscribe, self.network.unsubscribe
        self.configure = self.network.configure

    def publish(self, documents: Iterable[Document | bytes | str]) -> None:
        """Documents enter the network, and reach all servers that they reach."""
        passages = self.network.entrance.enter(as_documents(documents))
        for source in dict.fromkeys(passage.source for passage in passages):
            self._send(source, [passage for passage in passages if passage.source == source])
        for name in self.network.servers:
            self.network.settle(name)

    def end(self) -> Report:
        """All windows of joins close; what happened."""
        for name in self.network.servers:
            self.network.settle(name, at_end=True)
        report = self.network.report()
        return report if self._only is None else _only(report, self._only)

    def _send(self, source: str, passages: Sequence[Passage]) -> None:
        """The documents of one source go their ways: each server has all of them before those behind it."""
        routes = self.network.routing.routes[source]
        waiting: dict[str, list[Passage]] = {routes.order[0]: list(passages)}
        for name in routes.order:
            arrived = waiting.pop(name, None)
            if arrived and name in self.network.servers:
                for receiver, onward in self.network.take(name, arrived).items():
                    waiting.setdefault(receiver, []).extend(onward)


def _with_all_before(ways: Mapping[str, Routes], servers: set[str]) -> set[str]:
    """These servers, and all on the ways to them: what they pass on decides what arrives, and with which header."""
    found = set(servers)
    for routes in ways.values():
        found |= routes.before(servers)
    return found


def _only(report: Report, servers: set[str]) -> Report:
    """What of a report concerns these servers, and what they sent."""
    report.servers = {name: traffic for name, traffic in report.servers.items() if name in servers}
    report.links = {link: flow for link, flow in report.links.items() if link[0] in servers}
    return report
