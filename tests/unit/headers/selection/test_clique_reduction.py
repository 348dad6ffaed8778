"""Theorem 3.2: the instance built from a graph has the stated solution if and only if the graph has the clique."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from profiles import examples
from weft.headers.selection import Instance, hits
from weft.headers.selection.optimum import select_optimum


def instance_of(graph: nx.Graph) -> Instance:
    """P is the set of edges, the servers are the vertices, and P_j are the two that an edge is incident on."""
    edges = list(graph.edges)
    servers = (frozenset(at for at, edge in enumerate(edges) if vertex in edge) for vertex in graph.nodes)
    return Instance(tuple(map(str, edges)), tuple(servers))


def has_solution(graph: nx.Graph, size: int) -> bool:
    """Whether k(k-1)/2 expressions can be discarded so that at most k servers miss."""
    instance = instance_of(graph)
    discarded = size * (size - 1) // 2
    if discarded > graph.number_of_edges():
        return False
    found = select_optimum(instance, graph.number_of_edges() - discarded)
    assert found.is_proven
    misses = graph.number_of_nodes() - found.hits
    return bool(misses <= size)


@st.composite
def graphs(draw: DrawFn) -> nx.Graph:
    vertices = draw(st.integers(2, 7))
    edges = draw(st.sets(st.sampled_from(list(combinations(range(vertices), 2)))))
    graph = nx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(sorted(edges))
    return graph


@given(graphs(), st.integers(2, 5))
@examples(120)
def test_the_instance_has_the_solution_if_and_only_if_the_graph_has_the_clique(graph: nx.Graph, size: int) -> None:
    largest = max(map(len, nx.find_cliques(graph)))

    assert has_solution(graph, size) == (largest >= size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("density", [0.3, 0.5, 0.8])
def test_random_graphs_of_twelve_vertices(seed: int, density: float) -> None:
    graph = nx.gnp_random_graph(12, density, seed=seed)
    largest = max(map(len, nx.find_cliques(graph)))

    assert has_solution(graph, largest)
    assert not has_solution(graph, largest + 1)


def test_the_clique_itself_is_the_solution() -> None:
    graph = nx.complete_graph(4)
    graph.add_edges_from([(3, 4), (4, 5)])
    instance = instance_of(graph)
    rest = [at for at, edge in enumerate(graph.edges) if max(edge) > 3]

    assert graph.number_of_nodes() - hits(instance, rest) == 4
