"""A topology in, the ways of each source's documents out: from which servers to which they are passed on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.network.topology import Topology

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Routes:
    """The ways of one source's documents, which never lead in a circle.

    `order` has the servers that they can reach, each behind all that it gets documents from. A server gets them from
    the nearest to the source of those that are nearer than itself, one or with redundant paths several.
    """

    source: str
    order: tuple[str, ...]
    senders: dict[str, tuple[str, ...]]
    receivers: dict[str, tuple[str, ...]]

    @property
    def links(self) -> int:
        """How many links there are on the ways: flooding sends a document over each."""
        return sum(map(len, self.receivers.values()))

    def before(self, servers: set[str]) -> set[str]:
        """These servers, as far as documents reach them, and all that documents pass before them."""
        found: set[str] = set()
        waiting = [server for server in servers if server in self.senders]
        while waiting:
            server = waiting.pop()
            if server not in found:
                found.add(server)
                waiting += self.senders[server]
        return found


def find_routes(topology: Topology) -> dict[str, Routes]:
    """By the names of the sources: their documents' ways."""
    graph = topology.graph()
    rank = {server.name: number for number, server in enumerate(topology.servers)}
    known: dict[str, Routes] = {}
    for source in topology.sources:
        known[source.name] = _routes(source.name, source.server, graph, rank, topology.paths)
    return known


def _routes(source: str, entry: str, graph: nx.DiGraph, rank: dict[str, int], paths: int) -> Routes:
    import networkx as nx  # noqa: PLC0415

    distance: dict[str, int] = nx.single_source_shortest_path_length(graph, entry)

    def nearness(server: str) -> tuple[int, int]:
        return distance[server], rank[server]

    order = sorted(distance, key=nearness)
    senders: dict[str, tuple[str, ...]] = {}
    receivers: dict[str, list[str]] = {server: [] for server in order}
    for server in order:
        nearer = [each for each in graph.predecessors(server) if each in distance and nearness(each) < nearness(server)]
        senders[server] = tuple(sorted(nearer, key=nearness)[:paths])
        for sender in senders[server]:
            receivers[sender].append(server)
    return Routes(source, tuple(order), senders, {server: tuple(each) for server, each in receivers.items()})
