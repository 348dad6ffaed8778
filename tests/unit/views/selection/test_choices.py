"""Choosing views: each way against the definition, ours against the optimum, and within the budget always."""

from __future__ import annotations

from itertools import combinations
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from space_problems import random_problem, some_budget
from weft.errors import ConfigurationError
from weft.views.selection.greedy import benefits, choose_greedy, choose_random, greedy_order
from weft.views.selection.optimum import choose_optimum
from weft.views.selection.ours import choose
from weft.views.selection.problem import QueryLoad, Request, SpaceProblem, Storable


def single(sizes: list[int], queries: list[tuple[float, tuple[int, ...]]], latency: float = 1.0) -> SpaceProblem:
    """One source of a byte a second; each piece is a part."""
    candidates = tuple(Storable(str(number), size, (number,)) for number, size in enumerate(sizes))
    loads = (QueryLoad(str(at), each, (Request("s", latency, 1.0, asked),)) for at, (each, asked) in enumerate(queries))
    return SpaceProblem(tuple(sizes), candidates, tuple(loads))


def by_hand(problem: SpaceProblem, budget: float) -> float:
    """The least cost of all choices that fit."""
    numbers = range(len(problem.candidates))
    choices = (chosen for length in range(len(numbers) + 1) for chosen in combinations(numbers, length))
    return min(problem.cost(chosen) for chosen in choices if problem.size(chosen) <= budget)


def test_the_time_of_a_query_is_that_of_its_slowest_source_and_of_what_is_read_here() -> None:
    requests = (Request("s1", 2.0, 0.1, (0, 1)), Request("s2", 1.0, 0.5, (2,)))
    candidates = tuple(Storable(str(number), 10, (number,)) for number in range(3))
    problem = SpaceProblem((10, 20, 30), candidates, (QueryLoad("q", 2.0, requests),), 0.01)

    assert problem.time(()) == 2.0 * max(2 + 3, 1 + 15)
    assert problem.time([2]) == 2.0 * (5 + 0.3)
    assert problem.time([1, 2]) == 2.0 * (2 + 1 + 0.5)
    assert problem.time([0, 1, 2]) == pytest.approx(2.0 * 0.6)


def test_the_frequencies_of_figure_6_are_in_the_benefits() -> None:
    f1, f2 = 0.3, 0.5
    problem = single([100, 10, 40], [(f1, (0, 1)), (f2, (1, 2))], latency=0.0)

    assert benefits(problem) == pytest.approx([100 * f1 / 2, 10 * (f1 / 2 + f2 / 2), 40 * f2 / 2])
    assert greedy_order(problem) == [1, 2, 0]


def test_the_knapsack_is_full_at_the_first_that_does_not_fit_or_when_none_does() -> None:
    problem = single([10, 50, 20], [(1.0, (0,)), (0.5, (1,)), (0.1, (2,))], latency=0.0)

    assert choose_greedy(problem, 40, "stop").numbers == (0,)
    assert choose_greedy(problem, 40, "skip").numbers == choose_greedy(problem, 40).numbers == (0, 2)


def test_a_view_that_matches_several_queries_has_the_benefit_of_all_of_them() -> None:
    candidates = (Storable("large", 30, (0, 1)), Storable("small", 10, (1,)))
    loads = (QueryLoad("a", 1.0, (Request("s", 0, 1, (0,)),)), QueryLoad("b", 2.0, (Request("s", 0, 1, (1,)),)))

    assert benefits(SpaceProblem((30, 10), candidates, loads)) == [30 + 20, 20]


def test_what_costs_more_to_maintain_than_it_saves_is_not_chosen() -> None:
    problem = SpaceProblem(
        (10,), (Storable("a", 10, (0,), maintenance=20.0),), (QueryLoad("q", 1.0, (Request("s", 1, 1, (0,)),)),)
    )

    assert choose(problem, 100).numbers == choose_greedy(problem, 100).numbers == ()
    assert choose_optimum(problem, 100).choice.numbers == ()


def test_ours_knows_that_a_query_needs_all_its_parts() -> None:
    """By bytes alone both halves of the first query are worth less than the decoy, together they spare its latency."""
    problem = single([10, 10, 20], [(1.0, (0, 1)), (1.2, (2, 0))], latency=100.0)

    assert choose(problem, 20).numbers == (0, 1)
    assert (
        choose_greedy(problem, 20).numbers == (0, 1) or choose_greedy(problem, 20).benefit < choose(problem, 20).benefit
    )


def test_a_copy_of_what_is_nested_is_chosen_where_its_home_is_too_large() -> None:
    candidates = (Storable("home", 1000, (0, 1)), Storable("copy", 10, (1,)))
    query = QueryLoad("q", 1.0, (Request("s", 1.0, 0.1, (1,)),))

    assert choose(SpaceProblem((1000, 10), candidates, (query,)), 100).keys == ("copy",)


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
@examples(60)
def test_the_optimum_is_the_best_of_all_choices(seed: int, share: float) -> None:
    problem = random_problem(Random(seed), queries=5, parts=5, most=3, nested=0.2)
    budget = some_budget(problem, share)
    if len(problem.candidates) > 9:
        return

    optimum = choose_optimum(problem, budget)

    assert optimum.is_proven
    assert optimum.gap == 0
    assert problem.cost(optimum.choice.numbers) == pytest.approx(by_hand(problem, budget), rel=1e-5)


@given(st.integers(0, 10_000), st.floats(0, 1.2))
@examples(40)
def test_every_choice_fits_and_tells_what_it_comes_to(seed: int, share: float) -> None:
    problem = random_problem(Random(seed), queries=12, parts=15, most=4)
    budget = some_budget(problem, share)

    drawn = choose_random(problem, budget, Random(seed), draws=3)
    choices = [choose(problem, budget), choose_greedy(problem, budget), choose_greedy(problem, budget, "stop")]

    for choice in [*choices, *drawn.choices]:
        assert choice.size == problem.size(choice.numbers) <= budget
        assert choice.time == pytest.approx(problem.time(choice.numbers))
        assert choice.benefit == pytest.approx(problem.cost(()) - problem.cost(choice.numbers))
    assert choices[0].benefit >= max(choice.benefit for choice in choices) - 1e-9
    assert drawn.minimum == min(choice.time for choice in drawn.choices) <= drawn.average * (1 + 1e-9)


@pytest.mark.slow
def test_ours_reaches_the_optimum_but_for_a_hundredth() -> None:
    ratios = []
    for seed in range(50):
        random = Random(seed)
        problem = random_problem(random, queries=10 + seed % 20, parts=15 + seed % 30, most=5)
        budget = some_budget(problem, random.choice([0.05, 0.1, 0.25, 0.5, 0.75]))
        optimum = choose_optimum(problem, budget, seconds=20)
        if optimum.bound > 1e-9:
            ratios.append(choose(problem, budget).benefit / optimum.bound)

    assert len(ratios) > 40
    assert min(ratios) >= 0.99


@pytest.mark.timed
@pytest.mark.slow
def test_ours_takes_about_a_second_for_a_thousand_queries() -> None:
    problem = random_problem(Random(1), queries=1_000, parts=3_500, most=10)
    budget = some_budget(problem, 0.25)
    assert len(problem.candidates) > 4_800

    before = process_time()
    ours = choose(problem, budget)
    seconds = process_time() - before

    assert ours.benefit > choose_greedy(problem, budget).benefit
    assert seconds < 5  # well below 1 on a machine that does nothing else


@pytest.mark.parametrize("budget", [-1, float("nan")])
def test_a_budget_that_is_none_is_refused(budget: float) -> None:
    problem = single([1], [(1.0, (0,))])

    for way in (choose, choose_greedy, choose_optimum):
        with pytest.raises(ConfigurationError, match="expected a budget from 0 bytes on"):
            way(problem, budget)


def test_a_problem_with_pieces_that_are_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected pieces from 0 to 0"):
        SpaceProblem((1,), (Storable("a", 1, (1,)),), ())


def test_nothing_is_chosen_from_nothing() -> None:
    problem = SpaceProblem((), (), ())

    assert (
        choose(problem, 10).numbers
        == choose_greedy(problem, 10).numbers
        == choose_optimum(problem, 10).choice.numbers
        == ()
    )
