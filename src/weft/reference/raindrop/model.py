"""A pattern tree and counts in, the cost of its plans out as the paper has it: a sum over all active states.

It can be searched like Weft's own, which pays for the dearest pass alone.
"""

from __future__ import annotations

from math import prod

from weft.optimizer.algebra import ElementPlan, Inside
from weft.optimizer.cost import CostModel, PassCost, PatternCost, PlanCost
from weft.optimizer.pattern_tree import PatternTree
from weft.optimizer.ranking import migrate
from weft.reference.raindrop.equations import CostCut, StackCosts, extract, node_nav, token_nav, token_navs
from weft.reference.raindrop.stack_automaton import ELEMENT, StackCounts, end_state, own_states, way_states

_FREE = PassCost(narrow=0, whole=0, labels=0, call=0, check=0)
_ELEMENT_ALONE: frozenset[int | None] = frozenset([None])


class StackModel(CostModel):
    """The paper's cost of a plan.

    `tests` is what the Select operators on a pattern's values take of an element, and `returned` are the patterns, None
    being the bottom input element, whose elements are extracted whatever the plan.
    """

    def __init__(
        self,
        tree: PatternTree,
        counts: StackCounts,
        costs: StackCosts,
        selectivity: tuple[float, ...],
        tests: tuple[float, ...],
        returned: frozenset[int | None] = _ELEMENT_ALONE,
    ) -> None:
        self._counts, self._costs, self._tests, self._returned = counts, costs, tests, returned
        self._token_nav = [
            token_nav(counts.active, own_states(tree, each), costs) for each in range(len(tree.patterns))
        ]
        self._node_nav = [self._node_nav_cost(tree, each) for each in range(len(tree.patterns))]
        patterns = tuple(
            PatternCost(self._token_nav[each] + tests[each], self._node_nav[each] + tests[each], selectivity[each])
            for each in range(len(tree.patterns))
        )
        super().__init__(tree, patterns, _FREE)

    def _node_nav_cost(self, tree: PatternTree, pattern: int) -> float:
        """NodeNav from all nodes that the parent pattern holds in an element."""
        states = way_states(tree, pattern)
        matched = [self._counts.begun.get(state, 0.0) for state in states]
        below = [self._counts.active.get(state, 0.0) for state in states]
        children = [all_below / number if number else 0.0 for all_below, number in zip(below, matched, strict=True)]
        return node_nav(matched, children, self._costs)

    # -- Extract

    def _extract(self, pattern: int | None) -> float:
        state = end_state(self.tree, pattern)
        return extract(self._counts.begun.get(state, 0.0), self._counts.nodes.get(state, 0.0), self._costs)

    def _is_extracted(self, inside: Inside, pattern: int | None) -> bool:
        """Whether a plan makes elements of what a pattern in the automaton locates: to return, filter or go on from."""
        is_filtered = pattern is not None and bool(self.tree.patterns[pattern].tests)
        goes_on = any(child not in inside for child in self.tree.children(pattern))
        return pattern in self._returned or is_filtered or goes_on

    def _extracts(self, inside: Inside) -> dict[int | None, float]:
        return {each: self._extract(each) for each in (None, *sorted(inside)) if self._is_extracted(inside, each)}

    # -- plans

    def cost(self, inside: Inside) -> PlanCost:
        """Equation 1 for what is in, with its Extracts, and the operators outside by rank."""
        states = [ELEMENT, *(state for each in inside for state in own_states(self.tree, each))]
        active = {state: self._counts.active.get(state, 0.0) for state in states}
        reading = token_navs(active, self._counts.starts, self._counts.ends, self._costs)
        own = sum(self._extracts(inside).values()) + sum(self._tests[each] for each in inside)
        order = self._order(inside)
        plan, outside = ElementPlan(self.tree, inside, order), self._outside_operators(inside)
        navigating = sum(outside[each][0] + outside[each][1] for each in order)
        return PlanCost(plan, reading, own, navigating, prod([self._share[each] for each in inside]))

    def _order(self, inside: Inside) -> tuple[int, ...]:
        outside = [each for each in self.tree.required if each not in inside]
        return migrate(self.tree, outside, self.outside_cost, self._share.__getitem__)

    def _outside_operators(self, inside: Inside) -> dict[int, tuple[float, float]]:
        """By pattern what its NodeNav takes, and its Selects; where a pattern is in, only these are outside."""
        found = {each: (0.0, self._tests[each]) for each in inside}
        left = prod([self._share[each] for each in inside])
        for each in self._order(inside):
            found[each] = left * self._node_nav[each], left * self._tests[each]
            left *= self._share[each]
        return found

    def cost_cut(self, inside: Inside, pattern: int) -> CostCut:
        """Equation 3: what a plan costs more if a pattern is pulled out of the automaton, with what is below it."""
        gone = inside.intersection((pattern, *self.tree.descendants(pattern)))
        above, rest = self.tree.patterns[pattern].parent, inside - gone
        extracts, before, after = self._extracts(inside), *map(self._outside_operators, (inside, rest))
        others = sum(map(sum, after.values())) - sum(map(sum, before.values()))
        return CostCut(
            introduced=self._extract(above),
            is_introduced=above not in extracts,
            token_nav=sum(self._token_nav[each] for each in gone),
            node_nav=after[pattern][0],
            others=others - after[pattern][0],
            gone=sum(extracts.get(each, 0.0) for each in gone),
        )

    def least_cut(self, inside: Inside, pattern: int) -> float:
        """Lemma 3: the least that NodeNav can cost, less what goes from the automaton, and the Selects behind that."""
        gone = inside.intersection((pattern, *self.tree.descendants(pattern)))
        extracts = self._extracts(inside)
        least = prod([self._share[each] for each in self.tree.required if each not in gone])
        saved = sum(self._inside[each] + extracts.get(each, 0.0) for each in gone)
        return least * self._outside[pattern] - saved
