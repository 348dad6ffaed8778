"""Our own choice of views: bundles by what they save for a byte, then an integer program over what was a close call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from weft.views.selection.bundles import Bundles
from weft.views.selection.greedy import choose_greedy
from weft.views.selection.problem import SpaceChoice, SpaceProblem, check_budget
from weft.views.selection.program import Program

_EXACT = 600  # candidates, up to which an integer program settles the choice
_NODES = 500  # of its search, so that its time is bounded
_GAP = 1e-3  # what it may leave on the table
_ROUNDS = 4  # of filling


def choose(problem: SpaceProblem, budget: float, start: Iterable[int] = ()) -> SpaceChoice:
    """The candidates that save most within a budget, never less than the paper's greedy choice saves.

    `start` is a choice that is weighed too, such as the present one.
    """
    check_budget(budget)
    if budget < 1 or not problem.candidates or not problem.queries:
        return problem.chosen(())
    given = tuple(start)
    found = [_filled(problem, budget), choose_greedy(problem, budget).numbers, ()]
    if problem.size(given) <= budget:
        found.append(given)
    if len(problem.candidates) <= _EXACT:
        chosen, _, _ = Program(problem, budget).solve(nodes=_NODES, gap=_GAP)
        if chosen is not None and problem.size(chosen) <= budget:  # which the solver keeps but for rounding
            found.append(tuple(chosen))
    return problem.chosen(min(found, key=problem.cost))


def _filled(problem: SpaceProblem, budget: float) -> tuple[int, ...]:
    """By bundles; what turns out to be held twice makes room for more."""
    bundles = Bundles(problem)
    chosen = bundles.fill(budget)
    for _ in range(_ROUNDS):
        needed = _needed(problem, chosen)
        if len(needed) == len(chosen):
            break
        chosen = bundles.fill(budget, needed)
    return tuple(chosen)


def _needed(problem: SpaceProblem, chosen: Iterable[int]) -> list[int]:
    """Those of a choice that hold what no other holds, the smallest dropped first."""
    held = Counter(piece for number in chosen for piece in problem.candidates[number].pieces)
    needed = []
    for number in sorted(chosen, key=lambda number: problem.candidates[number].size):
        pieces = problem.candidates[number].pieces
        if any(held[piece] == 1 for piece in pieces):
            needed.append(number)
        else:
            held.subtract(pieces)
    return needed
