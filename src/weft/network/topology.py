"""What a network is: servers with subscriptions, links between them, and sources where documents enter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from zlib import crc32

from weft.broker.subscriptions import Subscription
from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.headers.configuration import Configuration, as_configurations
from weft.headers.selection.problem import BANDWIDTH

if TYPE_CHECKING:
    import networkx as nx

_NAME = re.compile(r"\w[\w.-]{0,99}")
_MOST_PATHS = 16


@dataclass(frozen=True, slots=True)
class ServerSetup:
    """A server by its name, and its subscriptions.

    When it had to parse a document, it attaches a header of its own configurations for those behind it, if it has any.
    """

    name: str
    subscriptions: tuple[Subscription, ...] = ()
    configurations: tuple[Configuration, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkSource:
    """Where documents enter: at which server, and of which stream; without one, those that no other source takes."""

    name: str
    server: str
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """Servers, links from one to another, and sources; sources attach headers of the network's configurations.

    A document goes from its source along shortest ways. With `paths` above 1 it takes so many ways into each server
    that has them, and what comes again is let go. `bandwidth` is what links carry, in bytes a second.

    >>> Topology("pair", (ServerSetup("a"), ServerSetup("b")), (("a", "b"),), (NetworkSource("in", "a"),)).links
    (('a', 'b'),)
    """

    name: str
    servers: tuple[ServerSetup, ...]
    links: tuple[tuple[str, str], ...]
    sources: tuple[NetworkSource, ...]
    configurations: tuple[Configuration, ...] = ()
    paths: int = 1
    bandwidth: float = BANDWIDTH
    by_name: Mapping[str, ServerSetup] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {server.name: server for server in self.servers})
        _check_names("server", [server.name for server in self.servers])
        _check_names("source", [source.name for source in self.sources])
        for source in self.sources:
            _check_known(f"source {source.name!r}", source.server, self.by_name)
        for sender, receiver in self.links:
            for name in (sender, receiver):
                _check_known(f"link {sender} -> {receiver}", name, self.by_name)
            if sender == receiver:
                raise ConfigurationError(f"link {sender} -> {receiver}: expected two servers, found one")
        if not self.sources:
            raise ConfigurationError("network: expected a source, found none: no document could enter")
        if not 1 <= self.paths <= _MOST_PATHS:
            raise ConfigurationError(f"paths: expected a number from 1 to {_MOST_PATHS}, found {self.paths}")
        if not self.bandwidth > 0:
            raise ConfigurationError(f"bandwidth: expected bytes a second, more than none, found {self.bandwidth!r}")
        _check_configurations(self)
        _check_subscriptions(self)

    def graph(self) -> nx.DiGraph:
        """Servers and links."""
        import networkx as nx  # noqa: PLC0415

        graph = nx.DiGraph()
        graph.add_nodes_from(server.name for server in self.servers)
        graph.add_edges_from(self.links)
        return graph

    def source_of(self, document: Document) -> NetworkSource | None:
        """The source that a document enters at: that of its stream, else one without a stream, by its id."""
        for source in self.sources:
            if source.stream is not None and source.stream == document.stream:
                return source
        others = [source for source in self.sources if source.stream is None]
        if not others:
            return None
        return others[crc32(document.id.encode("utf-8", "surrogatepass")) % len(others)] if others[1:] else others[0]

    def with_subscriptions(self, given: Mapping[str, Sequence[Subscription | str]]) -> Topology:
        """The same network, with these subscriptions beside those that its servers have; texts are numbered."""
        for name in given:
            _check_known("subscriptions", name, self.by_name)
        servers = [
            replace(server, subscriptions=(*server.subscriptions, *_subscriptions(server, given.get(server.name, ()))))
            for server in self.servers
        ]
        return replace(self, servers=tuple(servers))


def _subscriptions(server: ServerSetup, given: Iterable[Subscription | str]) -> list[Subscription]:
    first = len(server.subscriptions) + 1
    return [
        each if isinstance(each, Subscription) else Subscription(str(number), each)
        for number, each in enumerate(given, start=first)
    ]


def _check_names(what: str, names: Sequence[str]) -> None:
    known: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name):
            found = f"expected a name of letters, digits, _ . and -, found {name!r}"
            raise ConfigurationError(f"{what}: {found}")
        if name in known:
            raise ConfigurationError(f"{what} {name!r}: expected each name once, found it twice")
        known.add(name)


def _check_known(place: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        some = ", ".join(list(known)[:10]) + (", …" if len(known) > 10 else "")
        raise ConfigurationError(f"{place}: expected one of the servers {some or '(none)'}, found {name!r}")


def _check_subscriptions(topology: Topology) -> None:
    """Ids are a server's own; a server that no document can reach must have none."""
    import networkx as nx  # noqa: PLC0415

    graph = topology.graph()
    reached: set[str] = set()
    for source in topology.sources:
        if source.server not in reached:
            reached |= {source.server, *nx.descendants(graph, source.server)}
    for server in topology.servers:
        ids: set[str] = set()
        for subscription in server.subscriptions:
            if subscription.id in ids:
                raise ConfigurationError(f"server {server.name!r}: id {subscription.id!r} is there twice")
            ids.add(subscription.id)
        if ids and server.name not in reached:
            raise ConfigurationError(f"server {server.name!r}: expected a way from a source to it, found none")


def _check_configurations(topology: Topology) -> None:
    """A tag means the same at all servers."""
    known: dict[str, Configuration] = {}
    for configurations in (topology.configurations, *(server.configurations for server in topology.servers)):
        for configuration in as_configurations(configurations):
            if known.setdefault(configuration.tag, configuration) != configuration:
                raise ConfigurationError(f"configuration {configuration.tag}: expected one, found two that differ")
