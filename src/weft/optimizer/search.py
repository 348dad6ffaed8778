"""A plan and the cost model in, a cheaper plan out: the paper's three searches.

`min-exhaust` finds the cheapest plan of all, `greedy` takes the best single mode change as long as one is left that
saves anything, and `fast-prune` finds the same plan without looking at changes that cannot save anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Literal, get_args

from weft.errors import ConfigurationError
from weft.optimizer.algebra import Inside, change_mode
from weft.optimizer.cost import CostModel, PlanCost
from weft.optimizer.pattern_tree import PatternTree

Optimizer = Literal["min-exhaust", "greedy", "fast-prune", "fixed"]
_ROUNDING = 1e-9
_MOST_EXHAUSTED = 1 << 16  # plans; more take longer to look at than they could save


@dataclass(frozen=True, slots=True)
class RejectedChange:
    """A mode change that was not made: what the plan would have cost, None if that was not worked out, and why."""

    pattern: int
    total: float | None
    reason: str


@dataclass(slots=True)
class FoundPlan:
    """The plan that was found; `explored` counts the plans that were costed for it, with that of the beginning."""

    best: PlanCost
    explored: int = 1
    rejected: dict[int, RejectedChange] = field(default_factory=dict)  # by pattern, the latest


def search(optimizer: Optimizer, model: CostModel, inside: Inside) -> FoundPlan:
    """The plan that an optimizer finds from the one that runs; with `fixed` it is the same."""
    check_optimizer(optimizer, model.tree)
    match optimizer:
        case "min-exhaust":
            return min_exhaust(model, inside)
        case "greedy":
            return greedy_basic(model, inside)
        case "fast-prune":
            return fast_prune(model, inside)
        case "fixed":
            return FoundPlan(model.cost(inside))


def check_optimizer(name: str, tree: PatternTree) -> None:
    """Raise ConfigurationError unless there is such a search, and it comes to an end with these patterns."""
    if name not in get_args(Optimizer):
        expected = ", ".join(map(repr, get_args(Optimizer)))
        raise ConfigurationError(f"optimizer: expected one of {expected}, found {name!r}")
    if name == "min-exhaust" and (plans := count_plans(tree, frozenset(tree.required))) > _MOST_EXHAUSTED:
        most = _MOST_EXHAUSTED.bit_length() - 1
        expected = f"a query with at most {_MOST_EXHAUSTED} plans, as with {most} patterns side by side"
        raise ConfigurationError(f"min-exhaust: expected {expected}, found one with {plans}")


# -- MinExhaust


def min_exhaust(model: CostModel, inside: Inside) -> FoundPlan:
    """Every plan once, by one set of mode changes each."""
    tree, known = model.tree, frozenset(each for each in model.tree.required if model.is_known(each))
    if (plans := count_plans(tree, known)) > _MOST_EXHAUSTED:
        least = _MOST_EXHAUSTED.bit_length() - 1
        expected = f"a query with at most {_MOST_EXHAUSTED} plans, as with {least} patterns side by side"
        raise ConfigurationError(f"min-exhaust: expected {expected}, found one with {plans}")
    found = FoundPlan(model.cost(inside))
    for changes in rewrite_sets(tree, known):
        if changes:
            changed = inside
            for pattern in changes:  # Lemma 2: in whichever order
                changed = change_mode(tree, changed, pattern)
            cost = model.cost(changed)
            found.explored += 1
            if len(changes) == 1:
                found.rejected[changes[0]] = RejectedChange(changes[0], cost.total, "another plan costs less")
            if cost.total < found.best.total:
                found.best = cost
    changed = inside ^ found.best.plan.inside
    found.rejected = {each: why for each, why in found.rejected.items() if each not in changed}
    return found


def rewrite_sets(tree: PatternTree, among: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Lemma 1: all sets of patterns of which none is above another; each leads to a plan of its own."""

    def below(parents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not parents:
            yield ()
            return
        first, others = parents[0], parents[1:]
        for rest in below(others):
            for own in below(tuple(tree.children(first))):
                yield own + rest
            if first in among:
                yield (first, *rest)

    yield from below(tuple(tree.children(None)))


def count_plans(tree: PatternTree, among: frozenset[int]) -> int:
    """How many such sets there are, the empty one among them."""

    def below(at: int | None) -> int:
        number = 1
        for child in tree.children(at):
            number *= below(child) + (child in among)
        return number

    return below(None)


# -- GreedyBasic and FastPrune


def greedy_basic(model: CostModel, inside: Inside) -> FoundPlan:
    """The best single mode change, and again from there."""
    return _descend(model, inside, lambda _, __: -inf)


def fast_prune(model: CostModel, inside: Inside) -> FoundPlan:
    """The same, without costing a change of which Lemma 3 says that it cannot be the best one."""

    def least_cut(current: Inside, pattern: int) -> float:
        return model.least_cut(current, pattern) if pattern in current else -inf

    return _descend(model, inside, least_cut)


#: At least so much dearer is a plan after the mode change of a pattern.
LeastCut = Callable[[Inside, int], float]


def _descend(model: CostModel, inside: Inside, least_cut: LeastCut) -> FoundPlan:
    tree = model.tree
    found = FoundPlan(model.cost(inside))
    left = [each for each in tree.required if model.is_known(each)]
    for each in set(tree.required) - set(left):
        found.rejected[each] = RejectedChange(each, None, "its costs are not known yet")
    while left:
        best = _best_change(model, found, left, least_cut)
        if best is None:
            break
        chosen, found.best = best
        # Lemma 1: what depends on it is not changed after it.
        dependent = {chosen, *tree.ancestors(chosen), *tree.descendants(chosen)}
        left = [each for each in left if each not in dependent]
        found.rejected = {each: why for each, why in found.rejected.items() if each not in dependent}
    return found


def _best_change(
    model: CostModel, found: FoundPlan, left: list[int], least_cut: LeastCut
) -> tuple[int, PlanCost] | None:
    """The mode change that saves most, the first of several; those that promise most are costed first."""
    running = found.best
    bounds = {each: least_cut(running.plan.inside, each) for each in left}
    best: tuple[int, PlanCost] | None = None
    for pattern in sorted(left, key=bounds.__getitem__):
        to_beat = running.total if best is None else best[1].total
        if running.total + bounds[pattern] > to_beat * (1 + _ROUNDING):
            reason = "it costs more out than it saves" if bounds[pattern] > 0 else "another change saves more"
            found.rejected[pattern] = RejectedChange(pattern, None, f"Lemma 3: {reason}")
            continue
        cost = model.cost(change_mode(model.tree, running.plan.inside, pattern))
        found.explored += 1
        found.rejected[pattern] = RejectedChange(pattern, cost.total, "it would not cost less")
        if cost.total < running.total and (best is None or (cost.total, pattern) < (best[1].total, best[0])):
            best = pattern, cost
    return best
