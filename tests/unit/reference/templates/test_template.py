"""Templates: the numbers of the paper's table 3, and one template for all that is isomorphic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from weft.joins.compile.graph import GraphNode, JoinGraph, ValueJoin, join_graph, minor
from weft.languages.xscl import parse
from weft.plans.plan import Link, Step
from weft.reference.templates.template import Template, template_of

Tree = int | tuple["Tree", ...]  # a leaf by its number, or what is below a node
TreesOf = Callable[[list[int]], Iterator["Tree"]]
LINKS = (Link((Step("a", deep=True),)),)

# -- all queries with so many value joins


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for parts in partitions(rest):
        yield [[first], *parts]
        for at in range(len(parts)):
            yield [*parts[:at], [first, *parts[at]], *parts[at + 1 :]]


def trees(leaves: list[int]) -> Iterator[Tree]:
    """All trees with these leaves whose other nodes have at least two children."""
    if len(leaves) == 1:
        yield leaves[0]
        return
    for parts in partitions(leaves):
        if len(parts) > 1:
            yield from product(*(list(trees(part)) for part in parts))


def flat(leaves: list[int]) -> Iterator[Tree]:
    yield leaves[0] if len(leaves) == 1 else tuple(leaves)


def graph_of(left: Tree, right: Tree, joins: list[tuple[int, int]]) -> JoinGraph:
    nodes: list[GraphNode] = []
    places: list[dict[int, int]] = [{}, {}]

    def add(tree: Tree, parent: int | None, side: int) -> None:
        place = len(nodes)
        nodes.append(GraphNode(parent, LINKS, place))
        if isinstance(tree, int):
            places[side][tree] = place
        else:
            for below in tree:
                add(below, place, side)

    add(left, None, 0)
    count = len(nodes)
    add(right, None, 1)
    return JoinGraph(
        ("S", "S"), count, tuple(nodes), tuple(ValueJoin(places[0][one], "=", places[1][two]) for one, two in joins)
    )


def shapes(number: int, trees_of: TreesOf) -> Iterator[tuple[Tree, Tree, list[tuple[int, int]]]]:
    """A value join has a leaf at both ends; the ends that are in one part are one leaf."""
    ends = [{one: at for at, part in enumerate(parts) for one in part} for parts in partitions(list(range(number)))]
    for left, right in product(ends, repeat=2):
        joins = [(left[one], right[one]) for one in range(number)]
        if len(set(joins)) == number:
            of_left, of_right = (list(trees_of(sorted(set(side.values())))) for side in (left, right))
            yield from ((one, two, joins) for one, two in product(of_left, of_right))


def templates(number: int, trees_of: TreesOf) -> set[Template]:
    return {template_of(minor(graph_of(*shape)))[0] for shape in shapes(number, trees_of)}


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (2, 3), (3, 6), (4, 16)])
def test_flat_schemas_have_as_many_templates_as_table_3_says(number: int, expected: int) -> None:
    assert len(templates(number, flat)) == expected


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (2, 3), (3, 16), (4, 215)])
def test_complex_schemas_have_as_many_templates_as_table_3_says(number: int, expected: int) -> None:
    assert len(templates(number, trees)) == expected


def least(shape: tuple[Tree, Tree, list[tuple[int, int]]]) -> Any:
    """Another canonical form: leaves are sets of value joins, and the least of all ways to number these."""

    def below(tree: Tree, side: int, numbers: tuple[int, ...]) -> Any:
        if isinstance(tree, int):
            return 0, sorted(numbers[at] for at, join in enumerate(shape[2]) if join[side] == tree)
        return 1, sorted(below(inner, side, numbers) for inner in tree)

    numberings = permutations(range(len(shape[2])))
    return min((below(shape[0], 0, numbers), below(shape[1], 1, numbers)) for numbers in numberings)


def test_trying_all_numberings_of_the_value_joins_finds_the_same_classes() -> None:
    found = {(template_of(graph_of(*shape))[0], repr(least(shape))) for shape in shapes(3, trees)}

    assert len(found) == len({template for template, _ in found}) == len({form for _, form in found}) == 16


# -- one template for what is isomorphic


def shuffled(graph: JoinGraph, random: Random) -> JoinGraph:
    """The same graph with its nodes in another order, parents still first."""
    order: list[int] = []
    for side in (range(graph.left), range(graph.left, len(graph.nodes))):
        waiting = list(side)
        while waiting:
            ready = [place for place in waiting if graph.nodes[place].parent not in waiting]
            order.append(random.choice(ready))
            waiting.remove(order[-1])
    places = {old: new for new, old in enumerate(order)}
    nodes = [graph.nodes[old] for old in order]
    return JoinGraph(
        graph.streams,
        graph.left,
        tuple(GraphNode(None if n.parent is None else places[n.parent], n.links, n.variable) for n in nodes),
        tuple(ValueJoin(places[join.left], join.operator, places[join.right]) for join in graph.joins),
    )


def test_the_order_of_the_variables_does_not_matter_and_the_mapping_is_an_isomorphism() -> None:
    random = Random(1)
    for shape in random.sample(list(shapes(4, trees)), 60):
        graph = graph_of(*shape)

        template, places = template_of(shuffled(graph, random))

        assert template == template_of(graph)[0]
        other = shuffled(graph, random)
        template, places = template_of(other)
        above = [other.nodes[place].parent for place in places]
        assert [None if at is None else places[at] for at in template.parents] == above
        joins = {ValueJoin(places[join.left], join.operator, places[join.right]) for join in template.joins}
        assert joins == set(other.joins)


def test_operators_and_sides_tell_templates_apart() -> None:
    texts = (
        "S//a->x[b->y][c->z] JOIN{y = v AND z = w, infinite} S//a->u[b->v][c->w]",
        "S//a->x[b->y][c->z] JOIN{y = v AND z < w, infinite} S//a->u[b->v][c->w]",
        "S//a->x[b->y][c->z] JOIN{y = v AND z > w, infinite} S//a->u[b->v][c->w]",
        "S//a->x[b->y][c->z] JOIN{y = v AND z = v, infinite} S//a->u[b->v][c->w]",
        "S//a->x[b->y][c->z] JOIN{y = v AND y = w, infinite} S//a->u[b->v][c->w]",
        "S//a->x[b->y][c->z] JOIN{x = v AND y = w, infinite} S//a->u[b->v][c->w]",
    )

    found = {template_of(minor(join_graph(parse(text))))[0] for text in texts}

    assert len(found) == len(texts)


def test_many_value_joins_between_equal_leaves_are_no_trouble() -> None:
    leaves = list(range(10))
    one = graph_of(tuple(leaves), tuple(leaves), [(at, at) for at in leaves])
    two = graph_of(tuple(leaves), tuple(leaves), [(at, (at * 3 + 1) % 10) for at in leaves])

    assert template_of(one)[0] == template_of(two)[0]


def test_a_side_with_one_joined_leaf_is_that_leaf() -> None:
    graph = minor(join_graph(parse("S//a->x[b->y][c->z] JOIN{y = v AND y = w, infinite} S//a->u[b->v][c->w]")))

    template, places = template_of(graph)

    assert template == Template(1, (None, None, 1, 1), (ValueJoin(0, "=", 2), ValueJoin(0, "=", 3)))
    assert [graph.nodes[place].variable for place in places] == [1, 0, 1, 2]
