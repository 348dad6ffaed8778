"""Join graphs and their minors: what is removed stays in the definitions of what remains."""

from __future__ import annotations

import pytest

from weft.errors import ConfigurationError
from weft.joins.compile.graph import (
    Definition,
    JoinGraph,
    ValueJoin,
    contract,
    definitions,
    join_graph,
    minor,
    remove_above,
    remove_leaves,
)
from weft.languages.xscl import parse
from weft.plans.plan import And, Has, Link, Pattern, Step, Value


def graph_of(left: str, predicates: str, right: str = "S//z->w") -> JoinGraph:
    return join_graph(parse(f"{left} FOLLOWED BY{{{predicates}, 1 hour}} {right}"))


def kept(graph: JoinGraph) -> list[int]:
    """The left side's variables, by their places in the block."""
    return [node.variable for node in graph.nodes[: graph.left]]


def left_definitions(left: str, predicates: str) -> list[Definition]:
    graph = minor(graph_of(left, predicates))
    return list(definitions(graph)[: graph.left])


def step(name: str, deep: bool = False) -> Step:
    return Step(name, deep)


def test_a_join_graph_has_the_blocks_trees_and_a_value_join_for_each_predicate() -> None:
    graph = graph_of("S//a->x[b->y]/c->v", "y = w AND v < w AND y = w", "T//z->w")

    assert [node.parent for node in graph.nodes] == [None, 0, 0, None]
    assert (graph.left, graph.streams) == (3, ("S", "T"))
    assert graph.joins == (ValueJoin(1, "=", 3), ValueJoin(2, "<", 3))


def test_rule_1_removes_leaves_without_value_joins_and_what_become_leaves() -> None:
    graph = graph_of("S//a->x[b->y[c->v[d->p]]][e->q]", "q = w")

    reduced = remove_leaves(graph)

    assert kept(reduced) == [0, 4]
    exists = Has((step("b"), step("c"), step("d")))
    assert reduced.nodes[0].links == (Link((step("a", True),), exists),)


def test_rule_2_removes_what_is_above_the_least_common_ancestor() -> None:
    graph = graph_of("S//a->x/b->y/c->v[d->p][e->q]", "p = w AND q = w")

    reduced = remove_above(graph)

    assert kept(reduced) == [2, 3, 4]
    assert [node.parent for node in reduced.nodes] == [None, 0, 0, None]


def test_rule_3_contracts_nodes_with_one_child() -> None:
    graph = graph_of("S//a->x[b->y/c->v][d->p]", "v = w AND p = w")

    reduced = contract(graph)

    assert kept(reduced) == [0, 2, 3]
    assert reduced.nodes[1].links == (Link((step("b"),)), Link((step("c"),)))


def test_nodes_that_take_part_in_value_joins_stay_wherever_they_are() -> None:
    assert kept(minor(graph_of("S//a->x/b->y/c->v", "x = w AND v = w"))) == [0, 2]
    assert kept(minor(graph_of("S//a->x/b->y/c->v", "y = w"))) == [1]
    assert kept(minor(graph_of("S//a->x[b->y][c->v]", "y = w AND v != w"))) == [0, 1, 2]


def test_a_graph_that_is_its_own_minor_stays_the_same_object() -> None:
    graph = graph_of("S//a->x[b->y][c->v]", "y = w AND v = w")

    assert minor(graph) is graph


def test_what_was_removed_is_in_the_definitions() -> None:
    (only,) = left_definitions('S//a->x[@k = "1"][d->q[. = "2"]]/b->y[e->r]/c->v', "v = w")

    tests = (only.links[0].test, only.links[1].test, only.links[2].test)
    assert [link.path for link in only.links] == [(step("a", True),), (step("b"),), (step("c"),)]
    assert isinstance(tests[0], And)
    assert Has((step("d"),), Value("=", "2")) in tests[0].tests
    assert len(tests[0].tests) == 2
    assert tests[1:] == (Has((step("e"),)), None)


def test_the_pattern_of_a_definition_goes_all_the_way_from_the_root() -> None:
    _, _, leaf = left_definitions("S//a->x[b->y][c[d]->v]", "y = w AND v = w")

    assert leaf.pattern() == Pattern(None, (step("a", True), step("c")), Has((step("d"),)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("S//a->x/b->v", "S//a/b->v"),
        ("S//a->x[b->v][c->y]", "S//a->x[c->y][b->v]"),
        ("S//a->x[c->y][d->z][b->v]", "S//a[d][c]->x[b->v]"),
        ("S//a->x[c->y/d->z]/b->v", "S//a[c/d]/b->v"),
    ],
)
def test_equal_ways_are_one_variable(one: str, other: str) -> None:
    assert left_definitions(one, "v = w") == left_definitions(other, "v = w")


@pytest.mark.parametrize("other", ["T//a/b->v", "S//a//b->v", "S//a[c]/b->v", "S//a/b[c]->v", "S/a/b->v"])
def test_other_ways_and_streams_are_other_variables(other: str) -> None:
    assert left_definitions("S//a/b->v", "v = w") != left_definitions(other, "v = w")


@pytest.mark.parametrize(
    "text",
    [
        "S//a->x",
        "S//a->x NOT FOLLOWED BY{x = y, 1 hour} S//b->y",
        "S//a->x JOIN{x = y, 1 hour} S//b->y JOIN{x = z, 1 hour} S//c->z",
    ],
)
def test_other_queries_are_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(ConfigurationError, match="expected two blocks with JOIN or FOLLOWED BY, found"):
        join_graph(parse(text))
