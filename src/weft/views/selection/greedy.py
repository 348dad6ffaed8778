"""The paper's choice (5.3.3): candidates by benefit over size until the knapsack is full; and the random baseline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal

from weft.errors import ConfigurationError
from weft.views.selection.problem import QueryLoad, SpaceChoice, SpaceProblem, check_budget

#: When the knapsack is full: at the first candidate that does not fit, or when none is left that does.
Fullness = Literal["stop", "skip"]


def choose_greedy(problem: SpaceProblem, budget: float, when_full: Fullness = "skip") -> SpaceChoice:
    """Candidates in the order of their benefit-to-cost ratio, as long as they fit.

    The paper says "until the knapsack is full". With `"stop"` it is so when a candidate does not fit; with `"skip"`
    smaller ones that come later are still taken, which by the benefits as the paper sees them never saves less.
    """
    check_budget(budget)
    return problem.chosen(_filled(problem, greedy_order(problem), budget, when_full))


def greedy_order(problem: SpaceProblem) -> list[int]:
    """The candidates that have a benefit, those with the most benefit for a byte first."""
    worth = benefits(problem)
    useful = [number for number, benefit in enumerate(worth) if benefit > 0]
    return sorted(useful, key=lambda number: -worth[number] / problem.candidates[number].size)


def benefits(problem: SpaceProblem) -> list[float]:
    """The benefit of each candidate by itself: the sum over queries of frequency times net_execution_time.

    The frequency of a query that l candidates must be merged for counts for each of them by 1/l (figure 6).
    """
    holders = problem.holders()
    found = [-candidate.maintenance for candidate in problem.candidates]
    for query in problem.queries:
        saved = _net_times(problem, query, holders)
        merged = {holders[piece][0] for request in query.requests for piece in request.pieces if holders[piece]}
        for number, seconds in saved.items():
            found[number] += query.frequency / len(merged) * seconds
    return found


def _net_times(problem: SpaceProblem, query: QueryLoad, holders: list[list[int]]) -> dict[int, float]:
    """By candidate: the time of the sources for what it holds of a query, less the time that this takes here."""
    slowest: dict[int, float] = defaultdict(float)
    local: dict[int, float] = defaultdict(float)
    for request in query.requests:
        held: dict[int, int] = defaultdict(int)
        for piece in request.pieces:
            for number in holders[piece]:
                held[number] += problem.pieces[piece]
        for number, size in held.items():
            slowest[number] = max(slowest[number], request.latency + size * request.byte_seconds)
            local[number] += size * problem.local_byte_seconds
    return {number: seconds - local[number] for number, seconds in slowest.items()}


@dataclass(frozen=True, slots=True)
class Draws:
    """Random choices, with the average and the least of the times that the workload takes with them."""

    choices: tuple[SpaceChoice, ...]
    average: float
    minimum: float


def choose_random(problem: SpaceProblem, budget: float, random: Random, draws: int = 20) -> Draws:
    """Candidates in any order, as long as they fit; so many times."""
    check_budget(budget)
    if draws < 1:
        raise ConfigurationError(f"expected one draw or more, found {draws}")
    order = list(range(len(problem.candidates)))
    choices = []
    for _ in range(draws):
        random.shuffle(order)
        choices.append(problem.chosen(_filled(problem, order, budget, "skip")))
    times = [choice.time for choice in choices]
    return Draws(tuple(choices), sum(times) / draws, min(times))


def _filled(problem: SpaceProblem, order: Iterable[int], budget: float, when_full: Fullness) -> list[int]:
    chosen, room = [], budget
    for number in order:
        size = problem.candidates[number].size
        if size <= room:
            chosen.append(number)
            room -= size
        elif when_full == "stop":
            break
    return chosen
