"""Queries in, their pattern trees out."""

import pytest

from weft.languages import parse
from weft.optimizer.pattern_tree import PatternTree, pattern_tree
from weft.plans.show import show_path
from weft.plans.xscl import Xscl


def tree_of(query: str) -> PatternTree:
    plan = parse(query)
    assert not isinstance(plan, Xscl)
    return pattern_tree(plan)


def shown(tree: PatternTree) -> list[str]:
    """Each pattern as its parent, its path and its tests."""
    return [
        f"{'' if each.parent is None else each.parent}{show_path(each.path)}"
        + "".join(f" {test.operator} {test.constant}" for test in each.tests)
        + (" first" if each.is_first else "")
        + ("" if each.is_required else " returned")
        for each in tree.patterns
    ]


@pytest.mark.parametrize(
    ("query", "patterns", "has_rest", "returns_element"),
    [
        ("/a", [], False, True),
        ("/a[b]", ["/b"], False, True),
        ("/a[b = 'x'][c > 3]", ["/b = x", "/c > 3.0"], False, True),
        ("/a/b[c]/@d", ["/b", "0/c", "0/@d"], False, False),
        ("/a[b/c//d/e]", ["/b/c", "0//d/e"], False, True),
        ("/a[contains(b, 'x')]", ["/b contains x first"], False, True),
        ("/a[b and (c or d)]", ["/b"], True, True),
        ("/a[not(b)]", [], True, True),
        ("/a[. = 'x'][b]", ["/b"], True, True),
        ("/a[b[2]]", ["/b"], True, True),
    ],
)
def test_a_conjunction_becomes_patterns_and_the_rest_stays(
    query: str, patterns: list[str], has_rest: bool, returns_element: bool
) -> None:
    tree = tree_of(query)

    assert shown(tree) == patterns
    assert (tree.label, tree.has_rest, tree.returns_element) == ("a", has_rest, returns_element)


@pytest.mark.parametrize("query", ["//a[b]", "/a | /b", "//@x"])
def test_a_query_that_does_not_begin_with_its_element_is_all_rest(query: str) -> None:
    assert tree_of(query) == PatternTree(None, (), has_rest=True)


def test_variables_are_required_and_what_is_returned_is_not() -> None:
    tree = tree_of("<r>{ for $a in /a[x], $b in $a/b where $b/c = 'y' and $a/d > 1 return <m>{ $b, $a/e/f }</m> }</r>")

    assert shown(tree) == ["/x", "/d > 1.0", "/b", "2/c = y", "/e/f returned"]
    assert tree.required == (0, 1, 2, 3)
    assert not tree.has_rest


@pytest.mark.parametrize(
    ("returned", "is_direct"), [("$a", True), ("<m x='1'>{ $a }</m>", True), ("$a/b", False), ("count($a)", False)]
)
def test_a_message_of_the_element_and_constants_is_known_as_such(returned: str, is_direct: bool) -> None:
    assert tree_of(f"<r>{{ for $a in /a[x] return {returned} }}</r>").returns_element is is_direct


def test_ancestors_and_descendants_are_those_of_the_tree() -> None:
    tree = tree_of("/a[b[c[d]][e]][f]")

    assert shown(tree) == ["/b", "0/c", "1/d", "0/e", "/f"]
    assert tree.ancestors(2) == [1, 0]
    assert tree.descendants(0) == [1, 2, 3]
    assert tree.children(None) == [0, 4]
    assert show_path(tree.full_path(2)) == "/b/c/d"
