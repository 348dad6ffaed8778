"""A matcher in, text out that tells where each pattern is retrieved, what that costs, and what was not done and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.optimizer.algebra import (
    ElementSource,
    Extract,
    NodeNav,
    PlanOperator,
    Select,
    StructuralJoin,
    Tagger,
    TokenNav,
    operators,
)
from weft.optimizer.cost import CostModel, PlanCost
from weft.optimizer.pattern_tree import PatternTree
from weft.plans.show import show_path, show_test

if TYPE_CHECKING:
    from weft.optimizer.element_matcher import ElementMatcher

_PASSES = {
    "whole": "every element is read whole",
    "narrow": "the names in every element first, and whole only those that have all that are in",
    "lead": "every element up to where the DTD says that what is in is decided, and whole only those that have it",
}


def explain_costs(matcher: ElementMatcher) -> str:
    """The plan that runs: its operators, each pattern's place and costs, and the mode changes that were rejected."""
    model, tree, plan = matcher.model(), matcher.tree, matcher.plan
    lines = [matcher.query, ""]
    if not tree.required:
        return "\n".join([*lines, "no pattern is in or out: the engine answers every element"])
    cost = matcher.cost
    lines += [
        f"optimizer   {matcher.optimizer}",
        f"first pass  {plan.scan}: {_PASSES[plan.scan]}",
        *_totals(matcher, cost),
        "",
        "operators",
        *(f"  {line}" for line in _shown(tree, operators(plan), 0)),
        "",
        *_patterns(matcher, model, cost),
        "",
        "ns of an element that comes to the pattern; ~ is estimated from unit costs, the others are observed",
    ]
    if tree.has_rest:
        lines += ["", "what the patterns do not tell is asked of the elements that survive them"]
    return "\n".join(lines)


def _totals(matcher: ElementMatcher, cost: PlanCost) -> Iterator[str]:
    parts = f"reading {cost.reading:,.0f}, in {cost.inside:,.0f}, out {cost.outside:,.0f}"
    yield f"expected    {cost.total:,.0f} ns an element: {parts}"
    runs = [run for run in matcher.runs if run.plan == matcher.plan]
    if runs:
        number = sum(run.elements for run in runs)
        seen = sum(run.nanoseconds * run.elements for run in runs) / number
        yield f"observed    {seen:,.0f} ns an element, of {number:,} elements, with their answers"
    share = matcher.overhead.share
    if share is not None:
        beside = f"{share:.1%} of the time beside the plans"
        yield f"migrations  {matcher.migrations}; statistics, searches and migrations took {beside}"


def _patterns(matcher: ElementMatcher, model: CostModel, cost: PlanCost) -> Iterator[str]:
    tree, plan = matcher.tree, matcher.plan
    rejected = matcher.found.rejected if matcher.found is not None else {}
    width = max(len(step_name(tree, number)) for number in tree.required)
    yield f"{'pattern':<{width}} place {'ns in':>8} {'ns out':>8}  {'selectivity':>11}  if it changed its mode"
    for number in (*sorted(plan.inside), *plan.order):
        known = model.patterns[number]
        change = rejected.get(number)
        told = "not looked at"
        if change is not None and change.total is not None:
            told = f"{change.total - cost.total:+,.0f} ns: {change.reason}"
        elif change is not None:
            told = change.reason
        elif matcher.found is not None:
            told = "changed by the latest search, or follows one that was"
        inside = _cost(known.inside, matcher.statistics.inside[number].value)
        outside = _cost(known.outside, matcher.statistics.outside[number].value)
        place = "in" if number in plan.inside else "out"
        costs = f"{inside:>8} {outside:>8}  {_share(known.selectivity):>11}"
        yield f"{step_name(tree, number):<{width}} {place:<5} {costs}  {told}"


def _cost(value: float | None, observed: float | None) -> str:
    return "–" if value is None else f"{'' if observed is not None else '~'}{value:,.0f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def step_name(tree: PatternTree, number: int) -> str:
    """A pattern by its path from the element, and what it asks of values."""
    path = show_path(tree.full_path(number))
    tests = tree.patterns[number].tests
    return f"{path} {' and '.join(show_test(test) for test in tests)}" if tests else path


def _shown(tree: PatternTree, operator: PlanOperator, depth: int) -> Iterator[str]:
    """Operators as lines, each above its input."""
    indent = "  " * depth
    match operator:
        case Tagger(input, verifies):
            yield f"{indent}Tagger{', which asks the engine for the rest' if verifies else ''}"
            inputs: tuple[PlanOperator, ...] = (input,)
        case StructuralJoin(at, parts):
            yield f"{indent}StructuralJoin at {'the element' if at is None else show_path(tree.full_path(at))}"
            inputs = parts
        case NodeNav(input, pattern) | TokenNav(input, pattern):
            yield f"{indent}{type(operator).__name__} {show_path(tree.patterns[pattern].path)}"
            inputs = (input,)
        case Select(input, pattern, test):
            yield f"{indent}Select {show_path(tree.full_path(pattern))} {show_test(test)}"
            inputs = (input,)
        case Extract(input):
            yield f"{indent}Extract"
            inputs = (input,)
        case ElementSource(label):
            yield f"{indent}the stream of {label}"
            inputs = ()
    for each in inputs:
        yield from _shown(tree, each, depth + 1)
