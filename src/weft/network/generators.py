"""Numbers in, topologies without subscriptions out: chains, trees and meshes of servers."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from weft.errors import ConfigurationError
from weft.headers.configuration import Configuration
from weft.network.topology import NetworkSource, ServerSetup, Topology


def chain(number: int, configurations: Iterable[Configuration] = ()) -> Topology:
    """So many servers in a row; documents enter at the first."""
    _check(number, 1)
    return _topology("chain", nx.path_graph(number), configurations)


def tree(number: int, fanout: int = 2, configurations: Iterable[Configuration] = ()) -> Topology:
    """So many servers, each with so many below it; documents enter at the top.

    >>> tree(4, 2).links
    (('s0', 's1'), ('s0', 's2'), ('s1', 's3'))
    """
    _check(number, 1)
    if fanout < 1:
        raise ConfigurationError(f"tree: expected a fanout of 1 or more, found {fanout}")
    edges = [((below - 1) // fanout, below) for below in range(1, number)]
    graph = nx.Graph()
    graph.add_nodes_from(range(number))
    graph.add_edges_from(edges)
    return _topology("tree", graph, configurations)


def mesh(
    number: int,
    degree: int = 3,
    seed: int = 0,
    *,
    paths: int = 2,
    sources: int = 1,
    configurations: Iterable[Configuration] = (),
) -> Topology:
    """So many servers, connected at random, each to about so many others, by links both ways.

    Documents enter at the first servers and take so many paths into each server that has them.
    """
    _check(number, 1)
    if not 1 <= sources <= number:
        raise ConfigurationError(f"mesh: expected sources from 1 to {number}, found {sources}")
    most = number * (number - 1) // 2
    graph = nx.gnm_random_graph(number, min(most, max(number - 1, number * degree // 2)), seed)
    parts = [sorted(part) for part in nx.connected_components(graph)]
    for part in sorted(parts)[1:]:  # a mesh is connected
        graph.add_edge(0, part[0])
    return _topology("mesh", graph, configurations, both=True, paths=paths, sources=sources)


def _topology(
    name: str,
    graph: nx.Graph,
    configurations: Iterable[Configuration],
    both: bool = False,
    paths: int = 1,
    sources: int = 1,
) -> Topology:
    links = [(f"s{left}", f"s{right}") for left, right in sorted(map(sorted, graph.edges))]
    if both:
        links += [(receiver, sender) for sender, receiver in links]
    return Topology(
        name,
        tuple(ServerSetup(f"s{server}") for server in sorted(graph.nodes)),
        tuple(links),
        tuple(NetworkSource(f"source{at}", f"s{at}") for at in range(sources)),
        tuple(configurations),
        paths,
    )


def _check(number: int, least: int) -> None:
    if number < least:
        raise ConfigurationError(f"network: expected {least} servers or more, found {number}")
