"""The exact optimum of choosing views, by integer programming: a yardstick for what is quick."""

from __future__ import annotations

from dataclasses import dataclass

from weft.views.selection.problem import SpaceChoice, SpaceProblem, check_budget
from weft.views.selection.program import Program

_TRIES = 5


@dataclass(frozen=True, slots=True)
class SpaceOptimum:
    """The best choice that was found, and the most benefit that any could have: `gap` is how far off it may be."""

    choice: SpaceChoice
    bound: float
    is_proven: bool

    @property
    def gap(self) -> float:
        """The share of the bound that the choice may lack."""
        return 0.0 if self.is_proven or self.bound <= 0 else max(0.0, 1 - self.choice.benefit / self.bound)


def choose_optimum(problem: SpaceProblem, budget: float, seconds: float | None = None) -> SpaceOptimum:
    """The choice with the most benefit; after so many seconds the best that was found by then."""
    check_budget(budget)
    nothing = problem.chosen(())
    if not problem.candidates or not problem.queries or budget < 1:
        return SpaceOptimum(nothing, 0.0, is_proven=True)
    room = budget
    for _ in range(_TRIES):  # the solver keeps the budget but for rounding
        chosen, bound, is_proven = Program(problem, room).solve(seconds)
        size = problem.size(chosen or ())
        if size <= budget:
            break
        room -= 2 * (size - budget)
    if chosen is None or size > budget:
        return SpaceOptimum(nothing, bound, is_proven=False)
    choice = problem.chosen(chosen)
    return SpaceOptimum(choice, max(bound, choice.benefit), is_proven)
