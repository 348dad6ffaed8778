"""Pattern trees as the paper draws them, and every plan of a tree; elements and the answers of a broker to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from weft import Broker, Document, Dtd
from weft.optimizer.algebra import ElementPlan, Inside, Pass, are_places, can_be_narrow
from weft.optimizer.pattern_tree import PatternTree, TreePattern
from weft.plans.plan import Step


def path(name: str) -> tuple[Step, ...]:
    """A step to children of a name."""
    return (Step(name),)


def wide_tree(number: int) -> PatternTree:
    """Figure 8 (a): so many patterns side by side."""
    return PatternTree("e", tuple(TreePattern(None, path(f"p{at}")) for at in range(number)))


def deep_tree(levels: int) -> PatternTree:
    """Figure 8 (d): on each level two leaves and an inner pattern, with the next level below that one."""
    patterns: list[TreePattern] = []
    above: int | None = None
    for level in range(levels):
        patterns += [TreePattern(above, path(f"p{level}{side}")) for side in "abc"]
        above = len(patterns) - 1
    return PatternTree("e", tuple(patterns))


def all_places(tree: PatternTree) -> Iterator[Inside]:
    """Every way to say which patterns are in."""
    for number in range(len(tree.required) + 1):
        for chosen in combinations(tree.required, number):
            if are_places(tree, frozenset(chosen)):
                yield frozenset(chosen)


def all_passes(tree: PatternTree, inside: Inside, dtd: Dtd | None = None) -> list[Pass]:
    """The first passes that a plan with these places may have."""
    passes: list[Pass] = ["whole", "lead"] if dtd is not None else ["whole"]
    return [*passes, "narrow"] if can_be_narrow(tree, inside) else passes


def all_plans(tree: PatternTree, dtd: Dtd | None = None) -> Iterator[ElementPlan]:
    """Every plan in the order of the patterns."""
    for inside in all_places(tree):
        order = tuple(each for each in tree.required if each not in inside)
        for scan in all_passes(tree, inside, dtd):
            yield ElementPlan(tree, inside, order, scan)


def broker_answers(query: str, elements: list[Document]) -> list[tuple[str, tuple[str, ...]]]:
    """What a broker says: for each element that matches its id and its nodes."""
    broker = Broker()
    broker.subscribe(query)
    return [(message.document, message.nodes) for message in broker.publish(elements)]
