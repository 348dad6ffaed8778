"""What the searches find by the paper's own equations, on counts of the same streams: beside what the paper explored.

Weft's own model takes the dearest pass instead of a sum over active states, so it finds other plans; these are those
that an engine with the paper's stack would run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.in_or_out.runs import LEARNING, Searching
from bench.in_or_out.workload import Workload
from weft.documents.build import read
from weft.optimizer import ElementMatcher
from weft.optimizer.search import search
from weft.reference.raindrop.calibration import stack_costs
from weft.reference.raindrop.model import StackModel
from weft.reference.raindrop.stack_automaton import count_states, end_state

_COUNTED = 512  # elements whose tags are counted


@dataclass(frozen=True, slots=True)
class StackSearch:
    """One search by equations 1 to 3: the plans it costed, what it pulled out, its plan's cost over that of all in."""

    explored: int
    pulled_out: int
    of_all_in: float


def stack_searches(workload: Workload, names: tuple[Searching, ...]) -> Mapping[Searching, StackSearch]:
    """What the searches find on a stream, beginning with everything in the automaton."""
    matcher = ElementMatcher(workload.query, optimizer="fixed")
    model = stack_model(matcher, workload)
    everything = matcher.plan.inside
    initial = model.cost(everything).total
    found = {name: search(name, model, everything) for name in names}
    return {
        name: StackSearch(each.explored, len(everything - each.best.plan.inside), each.best.total / initial)
        for name, each in found.items()
    }


def stack_model(matcher: ElementMatcher, workload: Workload) -> StackModel:
    """The paper's model of a query, by the tags and the selectivities of some elements."""
    matcher.matches(workload.elements[:LEARNING])
    tree, costs = matcher.tree, stack_costs()
    counts = count_states(tree, read(workload.elements[:_COUNTED]))
    found = [counts.begun.get(end_state(tree, each), 0.0) for each in range(len(tree.patterns))]
    tests = tuple(number * len(tree.patterns[each].tests) * costs.visit for each, number in enumerate(found))
    shares = tuple(mean.value or 0.0 for mean in matcher.statistics.selectivity)
    return StackModel(tree, counts, costs, shares, tests, frozenset([None] if tree.returns_element else []))
