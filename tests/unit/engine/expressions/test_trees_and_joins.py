"""Trees have lxml's nodes, in its order; an index of a join has what nested loops find; numbers are written."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest

from oracle import Oracle, table_of
from weft.documents.fragment import Fragments
from weft.engine.expressions.atomics import text_of
from weft.engine.expressions.comparing import general_stands
from weft.engine.expressions.items import SingleValue, Untyped
from weft.engine.expressions.join_index import JoinIndex
from weft.engine.expressions.trees import DocumentTree, NodeKinds
from xquery_grammar import documents

OPERATORS = ("=", "<", "<=", ">", ">=")


def test_a_tree_has_the_nodes_of_its_document_in_order_with_their_owners_and_values() -> None:
    texts = documents(5, 12)
    table = table_of(texts)

    for at, text in enumerate(texts):
        tree, described = DocumentTree(table, at, Fragments(table)), Oracle(text).described

        assert len(tree) == len(described) + 1
        for number, expected in enumerate(described, 1):
            kind = NodeKinds(tree.kind[number]).name.lower()
            owner = 0 if expected.owner is None else expected.owner + 1
            assert (kind, tree.parent[number]) == (expected.kind, owner)
            assert tree.place_of(tree.node[number]) == number
            if kind != "element":
                assert tree.value(number) == expected.value
            if kind != "text":
                assert tree.expanded(number) == expected.name


def test_children_and_attributes_are_those_that_have_a_node_as_their_parent() -> None:
    table = table_of(documents(6, 6))
    tree = DocumentTree(table, 5, Fragments(table))

    for number in range(len(tree)):
        below = [each for each in range(1, len(tree)) if tree.parent[each] == number]
        is_attribute = [tree.kind[each] == NodeKinds.ATTRIBUTE for each in below]
        assert tree.children(number) == [each for each, skip in zip(below, is_attribute, strict=True) if not skip]
        assert tree.attributes(number) == [each for each, skip in zip(below, is_attribute, strict=True) if skip]


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_index_leaves_out_no_item_that_a_comparison_wants(operator: str) -> None:
    random = Random(operator)
    kinds: tuple[tuple[SingleValue, ...], ...] = (
        (Untyped("1"), Untyped("2"), Untyped("x"), Untyped("10")),
        (1.0, 2.5, float("nan"), 10.0),
        (1, Decimal("2.5"), 3),
    )
    few = 0
    for _ in range(300):
        inner_kind, outer_kind = random.choice(kinds), random.choice(kinds)
        values = [random.choices(inner_kind, k=random.randint(0, 2)) for _ in range(6)]
        outer = random.choices(outer_kind, k=random.randint(0, 2))

        places = JoinIndex(list("abcdef"), values).places(operator, outer)

        wanted = {
            place
            for place, each in enumerate(values)
            if any(general_stands(operator, one, other) for one in outer for other in each)
        }
        assert wanted <= set(places)
        assert list(places) == sorted(places)
        few += set(places) == wanted
    assert few > 100


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e6, "1.0E6"),
        (123456.5, "123456.5"),
        (1e-7, "1.0E-7"),
        (0.1, "0.1"),
        (-1.25e10, "-1.25E10"),
        (float("inf"), "INF"),
        (-0.0, "-0"),
        (Decimal("2.50"), "2.5"),
        (Decimal("1E+3"), "1000"),
        (12, "12"),
        (True, "true"),
    ],
)
def test_numbers_are_written_as_xquery_writes_them(number: SingleValue, text: str) -> None:
    assert text_of(number) == text
