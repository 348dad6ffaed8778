"""What patterns and passes cost in, what a plan costs for one bottom input element out.

The paper adds up what every active state of the automaton costs (its equations stand in `weft.reference.raindrop`).
Here label paths are looked up, so that of the patterns that are in only the dearest pass is paid, and what each makes
of its own: a maximum instead of the sum. What is not known is None, and a plan that depends on it has no cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from weft.optimizer.algebra import ElementPlan, Inside, Pass, can_be_narrow, is_settled
from weft.optimizer.pattern_tree import PatternTree
from weft.optimizer.ranking import migrate


@dataclass(frozen=True, slots=True)
class PatternCost:
    """Nanoseconds that a pattern takes of an element that comes to it, in and out, and the share it lets through."""

    inside: float | None = None
    outside: float | None = None
    selectivity: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether plans with the pattern in either place can be compared."""
        return None not in (self.inside, self.outside, self.selectivity)


@dataclass(frozen=True, slots=True)
class PassCost:
    """Nanoseconds that the passes take for an element.

    `call` is what an operator takes of a batch whatever comes, for each of the batch's elements; `check` what it takes
    to see that the rest of an element is well-formed, 0 where that is not asked for, and `cut` to take its lead.
    """

    narrow: float
    whole: float
    labels: float
    call: float
    check: float
    cut: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanCost:
    """A plan, and the nanoseconds that it takes for an element, by what takes them."""

    plan: ElementPlan
    reading: float
    inside: float
    outside: float
    survivors: float  # share of the elements that come to the patterns that are out

    @property
    def total(self) -> float:
        """All together."""
        return self.reading + self.inside + self.outside


#: The share of an element that must be read to decide the patterns that are in; None where the DTD does not tell.
LeadShare = Callable[[Inside], float | None]


def _no_lead(_: Inside) -> float | None:
    return None


class CostModel:
    """The cost of each plan of one query, as far as is known now."""

    def __init__(
        self, tree: PatternTree, patterns: tuple[PatternCost, ...], passes: PassCost, lead: LeadShare = _no_lead
    ) -> None:
        self.tree, self.patterns, self.passes, self._lead = tree, patterns, passes, lead
        self._inside = [each.inside or 0.0 for each in patterns]
        self._outside = [each.outside or 0.0 for each in patterns]
        self._share = [1.0 if each.selectivity is None else each.selectivity for each in patterns]
        self._settled = frozenset(each for each in tree.required if is_settled(tree, each))

    def is_known(self, pattern: int) -> bool:
        """Whether a mode change of the pattern, and of all that follows it, can be judged."""
        follows = (pattern, *self.tree.ancestors(pattern), *self.tree.descendants(pattern))
        return all(self.patterns[each].is_known for each in follows)

    def cost(self, inside: Inside) -> PlanCost:
        """The cheapest plan with these places: the patterns that are out by rank, after the cheapest first pass."""
        share = self._share
        outside = [each for each in self.tree.required if each not in inside]
        survivors = prod([share[each] for each in inside])
        order = migrate(self.tree, outside, self.outside_cost, share.__getitem__) if outside else ()
        scan, reading, own = self.first_pass(inside, survivors)
        plan = ElementPlan(self.tree, inside, order, scan)
        return PlanCost(plan, reading, own, self._navigating(order, survivors), survivors)

    def cost_as_it_is(self, plan: ElementPlan) -> PlanCost:
        """The cost of a plan with its own order and first pass, which need not be the best ones now."""
        survivors = prod([self._share[each] for each in plan.inside])
        passes = self._first_passes(plan.inside, survivors)
        _, reading, own = next((one for one in passes if one[0] == plan.scan), passes[0])
        return PlanCost(plan, reading, own, self._navigating(plan.order, survivors), survivors)

    def _navigating(self, order: tuple[int, ...], survivors: float) -> float:
        """What the patterns that are out take, one after the other."""
        left, navigating = survivors, 0.0
        for each in order:
            navigating += left * self._outside[each] + self.passes.call
            left *= self._share[each]
        return navigating

    def outside_cost(self, pattern: int) -> float:
        """Of a pattern that is out, with what its operator takes anyway."""
        return self._outside[pattern] + self.passes.call

    def first_pass(self, inside: Inside, survivors: float) -> tuple[Pass, float, float]:
        """The cheapest way to read the elements, what that takes, and what the patterns that are in take themselves."""
        return min(self._first_passes(inside, survivors), key=lambda one: one[1] + one[2])

    def _first_passes(self, inside: Inside, survivors: float) -> list[tuple[Pass, float, float]]:
        passes = self.passes
        own = sum(self._inside[each] for each in inside) + passes.call * len(inside)
        found: list[tuple[Pass, float, float]] = [("whole", passes.whole + (passes.labels if inside else 0.0), own)]
        unsettled = inside - self._settled
        again = sum(self._inside[each] for each in unsettled) + (passes.labels if unsettled else 0.0)
        if can_be_narrow(self.tree, inside):
            found.append(("narrow", passes.narrow + survivors * passes.whole, survivors * again))
        if inside and (share := self._lead(inside)) is not None:
            failing = (1 - survivors) * passes.check
            reading = passes.cut + share * (passes.whole + passes.labels) + failing + survivors * passes.whole
            found.append(("lead", reading, own + survivors * again))
        return found

    def least_cut(self, inside: Inside, pattern: int) -> float:
        """Lemma 3: at least so much dearer is a plan if a pattern, with what is below it, is pulled out of it.

        What the automaton saves is known; the NodeNav costs at least what it costs behind all that is in or out; and no
        other operator can become cheaper, since the pattern lets nothing fall before them any more.
        """
        share = self._share
        gone = inside.intersection((pattern, *self.tree.descendants(pattern)))
        rest = inside - gone
        left = prod([share[each] for each in rest])
        before = self.first_pass(inside, prod([share[each] for each in inside]))
        after = self.first_pass(rest, left)
        saved = before[1] + before[2] - after[1] - after[2]
        left *= prod([share[each] for each in self.tree.required if each not in inside])
        return left * self._outside[pattern] + self.passes.call * len(gone) - saved
