"""A pattern tree and the place of each pattern in, the operators that run out; and the rewrites between such plans.

*In* is retrieved in the scan pass (TokenNav, Extract), *out* is navigated to from the bindings that survive (NodeNav).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.optimizer.pattern_tree import PatternTree
from weft.plans.plan import Label, Value

#: The patterns that are in; all other required ones are out.
Inside = frozenset[int]
#: How elements are read first: as rows and texts; as paths of names, which tell what is there; or only as far as the
#: patterns that are in reach, by the DTD. What survives the last two is then read whole.
Pass = Literal["whole", "narrow", "lead"]


@dataclass(frozen=True, slots=True)
class ElementSource:
    """The stream's bottom input elements."""

    label: Label | None


@dataclass(frozen=True, slots=True)
class TokenNav:
    """Locates a pattern's nodes by their label paths, in the scan pass."""

    input: ElementSource | TokenNav
    pattern: int


@dataclass(frozen=True, slots=True)
class Extract:
    """Takes the rows of what a TokenNav locates.

    In the pass *whole* a node table is made of every element, with rows and texts of label paths that nobody asks for
    too: what is asked for in the pattern's place is a selection of these. *Narrow* makes no rows at all, and *lead*
    only those of an element's beginning; what survives either is then read whole.
    """

    input: TokenNav


@dataclass(frozen=True, slots=True)
class Select:
    """The bindings of a pattern whose value passes."""

    input: PlanOperator
    pattern: int
    test: Value


@dataclass(frozen=True, slots=True)
class StructuralJoin:
    """The elements, or the bindings of the pattern `at`, that have a binding of each input below them."""

    at: int | None
    inputs: tuple[PlanOperator, ...]


@dataclass(frozen=True, slots=True)
class NodeNav:
    """Navigates from the bindings that survive, in the node table of what survived."""

    input: PlanOperator
    pattern: int


@dataclass(frozen=True, slots=True)
class Tagger:
    """Makes the messages of the elements that survive all; `verifies` what the patterns do not tell."""

    input: PlanOperator
    verifies: bool


PlanOperator = ElementSource | TokenNav | Extract | Select | StructuralJoin | NodeNav | Tagger


@dataclass(frozen=True, slots=True)
class ElementPlan:
    """What runs over the bottom input elements: which patterns are in, and the others in the order of their turn."""

    tree: PatternTree
    inside: Inside
    order: tuple[int, ...]  # of the patterns that are out
    scan: Pass = "whole"


# -- rewrites


def all_in(tree: PatternTree) -> Inside:
    """Everything in the automaton."""
    return frozenset(tree.required)


def initial_plan(tree: PatternTree) -> ElementPlan:
    """The plan to begin with, when nothing is known: all in; by names alone where these tell all that is in."""
    inside = all_in(tree)
    return ElementPlan(tree, inside, (), "narrow" if can_be_narrow(tree, inside) else "whole")


def pull_out(tree: PatternTree, inside: Inside, pattern: int) -> Inside:
    """Property 1: what is below a pattern that goes out follows it."""
    return inside - {pattern, *tree.descendants(pattern)}


def push_in(tree: PatternTree, inside: Inside, pattern: int) -> Inside:
    """Property 1: what is above a pattern that goes in follows it."""
    return inside | {pattern, *tree.ancestors(pattern)}


def change_mode(tree: PatternTree, inside: Inside, pattern: int) -> Inside:
    """The rewrite of one pattern, whichever it is."""
    return pull_out(tree, inside, pattern) if pattern in inside else push_in(tree, inside, pattern)


def is_settled(tree: PatternTree, pattern: int) -> bool:
    """Whether the names in an element tell all of a pattern: it has no value, and nothing depends on its bindings."""
    node = tree.patterns[pattern]
    return node.parent is None and not node.tests and not tree.children(pattern)


def can_be_narrow(tree: PatternTree, inside: Inside) -> bool:
    """Whether the patterns that are in are asked for by their names alone."""
    return bool(inside) and not any(tree.patterns[each].tests for each in inside)


def are_places(tree: PatternTree, inside: Inside) -> bool:
    """Whether a plan has these places: whatever is in has its ancestors in."""
    return inside <= set(tree.required) and all(inside.issuperset(tree.ancestors(each)) for each in inside)


# -- as operators


def operators(plan: ElementPlan) -> Tagger:
    """The plan as a tree of operators, the last one on top."""
    above = _inside(plan, None)
    for pattern in plan.order:
        above = _selected(plan.tree, NodeNav(above, pattern), pattern)
    return Tagger(above, plan.tree.has_rest)


def _inside(plan: ElementPlan, at: int | None) -> PlanOperator:
    """What the automaton retrieves at a pattern, or at the element, and below it."""
    parts: list[PlanOperator] = [_inside(plan, child) for child in plan.tree.children(at) if child in plan.inside]
    if at is None:
        return StructuralJoin(None, tuple(parts)) if parts else ElementSource(plan.tree.label)
    own = _selected(plan.tree, Extract(_token_nav(plan.tree, at)), at)
    return StructuralJoin(at, (own, *parts)) if parts else own


def _token_nav(tree: PatternTree, at: int) -> TokenNav:
    parent = tree.patterns[at].parent
    return TokenNav(ElementSource(tree.label) if parent is None else _token_nav(tree, parent), at)


def _selected(tree: PatternTree, above: PlanOperator, at: int) -> PlanOperator:
    for test in tree.patterns[at].tests:
        above = Select(above, at, test)
    return above
