"""Mode changes with their secondary effect, and plans as operators."""

import pytest

from optimizer_plans import all_places, deep_tree, wide_tree
from weft.languages import parse
from weft.optimizer.algebra import (
    ElementPlan,
    Extract,
    NodeNav,
    Select,
    StructuralJoin,
    TokenNav,
    all_in,
    are_places,
    change_mode,
    operators,
    pull_out,
    push_in,
)
from weft.optimizer.pattern_tree import PatternTree, pattern_tree
from weft.plans.plan import Pattern
from weft.plans.walk import walk


def test_descendants_follow_out_and_ancestors_follow_in() -> None:
    tree = deep_tree(3)  # 2 is above 3, 4 and 5, and 5 above 6, 7 and 8

    assert pull_out(tree, all_in(tree), 5) == {0, 1, 2, 3, 4}
    assert push_in(tree, frozenset({0}), 7) == {0, 2, 5, 7}


@pytest.mark.parametrize("tree", [wide_tree(4), deep_tree(2)])
def test_every_mode_change_leads_from_places_to_other_places(tree: PatternTree) -> None:
    for inside in all_places(tree):
        for pattern in tree.required:
            changed = change_mode(tree, inside, pattern)

            assert are_places(tree, changed)
            assert (pattern in changed) != (pattern in inside)


def test_the_operators_of_a_plan_are_those_of_its_places() -> None:
    plan = parse("/a[b = 'x'][c[d > 3]]")
    assert isinstance(plan, Pattern)
    tree = pattern_tree(plan)

    tagger = operators(ElementPlan(tree, frozenset({0, 1}), (2,)))

    select = tagger.input
    assert isinstance(select, Select)
    assert isinstance(select.input, NodeNav)
    assert select.input.pattern == 2
    join = select.input.input
    assert isinstance(join, StructuralJoin)
    assert [type(each) for each in join.inputs] == [Select, Extract]
    assert {part.pattern for part in walk(tagger) if isinstance(part, TokenNav)} == {0, 1}
