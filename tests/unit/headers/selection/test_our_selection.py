"""Our own selection: at least as good as Algorithm 1, at most as good as the optimum, and what neither can do."""

from __future__ import annotations

from itertools import combinations
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from profiles import examples
from weft.errors import ConfigurationError
from weft.headers.selection import (
    CandidateView,
    Conjunct,
    Instance,
    Problem,
    ServerLoad,
    Service,
    hits,
    problem_of,
    select_greedy,
    select_views,
)
from weft.headers.selection.objective import Objective
from weft.headers.selection.optimum import select_optimum


@st.composite
def instances_with_groups(draw: DrawFn) -> Instance:
    """Servers that need several expressions at once: what makes the problem hard."""
    number = draw(st.integers(2, 9))
    servers = draw(st.lists(st.frozensets(st.integers(0, number - 1), min_size=1, max_size=4), max_size=14))
    return Instance(tuple(f"/e{at}" for at in range(number)), tuple(servers))


@given(instances_with_groups(), st.integers(0, 9))
@examples(120)
def test_hits_lie_between_those_of_greedy_and_of_the_optimum(instance: Instance, size: int) -> None:
    ours = select_views(problem_of(instance), size)

    assert len(ours.views) <= size
    assert ours.hits == pytest.approx(hits(instance, ours.views))
    assert hits(instance, select_greedy(instance, size)) <= ours.hits <= select_optimum(instance, size).hits


@pytest.mark.slow
def test_hits_are_close_to_the_optimum_where_greedy_is_not() -> None:
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(25):
        number, servers = int(rng.integers(8, 20)), int(rng.integers(10, 50))
        sets = [rng.choice(number, size=rng.integers(2, 6), replace=False) for _ in range(servers)]
        instance = Instance(tuple(map(str, range(number))), tuple(frozenset(each.tolist()) for each in sets))
        size = int(rng.integers(4, number))
        best = max(select_optimum(instance, size).hits, 1.0)
        greedy = hits(instance, select_greedy(instance, size))
        shares.append((greedy / best, select_views(problem_of(instance), size).hits / best))
    greedy_share, our_share = np.array(shares).mean(axis=0)

    assert our_share > 0.99
    assert our_share > greedy_share + 0.05


@st.composite
def problems(draw: DrawFn) -> Problem:
    """Conjunctions with selectivities, weights, views of different sizes, ancestors' and positional views."""
    expressions, number = draw(st.integers(2, 4)), draw(st.integers(2, 6))
    shares = st.none() | st.sampled_from((0.05, 0.3, 0.8))
    conjuncts = st.builds(Conjunct, st.integers(0, expressions - 1), shares)
    queries = st.lists(conjuncts, min_size=1, max_size=3, unique_by=lambda part: part.expression).map(tuple)
    loads = st.builds(ServerLoad, st.lists(queries, min_size=1, max_size=3).map(tuple), st.sampled_from((1.0, 5.0)))
    services = st.builds(
        Service,
        st.integers(0, expressions - 1),
        st.lists(st.integers(0, number - 1), min_size=1, max_size=2, unique=True).map(tuple),
        st.sampled_from((0.1, 0.5, 3.0)),
        st.sampled_from((1.0, 1.0, 0.7)),
    )
    return Problem(
        tuple(draw(st.lists(loads, min_size=1, max_size=6))),
        tuple(CandidateView(f"/e{at}", draw(st.sampled_from((2.0, 3.0, 8.0)))) for at in range(number)),
        tuple(draw(st.lists(services, min_size=1, max_size=8))),
        parse_cost=10.0,
        byte_cost=draw(st.sampled_from((0.0, 0.1, 1.0))),
    )


@given(problems(), st.none() | st.integers(0, 6), st.none() | st.sampled_from((0.0, 4.0, 9.0, 20.0)))
@examples(150)
def test_a_choice_keeps_its_budget_and_no_single_step_from_it_pays(
    problem: Problem, size: int | None, max_bytes: float | None
) -> None:
    objective, chosen = Objective(problem), select_views(problem, size, max_bytes)
    views = set(chosen.views)

    def fits(others: set[int]) -> bool:
        taken = sum(problem.views[view].bytes for view in others)
        return (size is None or len(others) <= size) and (max_bytes is None or taken <= max_bytes)

    others = [views ^ {view} for view in range(len(problem.views))]
    others += [views ^ {one, two} for one in views for two in range(len(problem.views)) if two not in views]
    assert fits(views)
    assert chosen.cost == pytest.approx(objective.cost(views))
    assert chosen.cost <= min([objective.cost(each) for each in others if fits(each)], default=np.inf) + 1e-6


@given(problems())
@examples(100)
def test_a_choice_costs_little_more_than_the_best_of_all(problem: Problem) -> None:
    objective, numbers = Objective(problem), range(len(problem.views))
    best = min(objective.cost(each) for size in range(len(numbers) + 1) for each in combinations(numbers, size))

    assert best - 1e-9 <= select_views(problem).cost <= 1.1 * best + 1e-9


def single(expression: int, share: float | None = None) -> tuple[Conjunct, ...]:
    return (Conjunct(expression, share),)


def test_one_ancestor_serves_several_expressions_where_bytes_are_dear() -> None:
    """`/news/content/address` instead of its country, city and phone (Section 2.3)."""
    views = tuple(CandidateView(name, 3.0) for name in ("country", "city", "phone", "address"))
    exact = [Service(at, (at,), cost=1.0) for at in range(3)]
    nested = [Service(at, (3,), cost=4.0) for at in range(3)]
    servers = tuple(ServerLoad((single(at),), 10.0) for at in range(3))

    def chosen(byte_cost: float) -> tuple[int, ...]:
        return select_views(Problem(servers, views, (*exact, *nested), 100.0, byte_cost)).views

    assert chosen(0.001) == (0, 1, 2)
    assert chosen(20.0) == (3,)
    assert chosen(10_000.0) == ()


def test_positional_views_are_chosen_together_or_not_at_all() -> None:
    views = tuple(CandidateView(name, 2.0) for name in ("a[1]/b", "a[2]/b", "c"))
    services = (Service(0, (0, 1), 1.0, hit=0.9), Service(1, (2,), 1.0))
    servers = (ServerLoad((single(0),), 5.0), ServerLoad((single(1),), 3.0))
    problem = Problem(servers, views, services, 50.0)

    assert select_views(problem, size=1).views == (2,)
    assert select_views(problem, size=2).views == (0, 1)
    assert select_views(problem, size=3).views == (0, 1, 2)


def test_a_selective_conjunct_makes_its_view_worth_more() -> None:
    """With room for one view only: the first expression is asked for as often, but the second one ends more queries."""
    query = (Conjunct(0, 0.9), Conjunct(1, 0.01))
    views = (CandidateView("/a", 2.0), CandidateView("/b", 2.0))
    problem = Problem((ServerLoad((query,), 10.0),), views, (Service(0, (0,), 1.0), Service(1, (1,), 1.0)), 50.0)

    assert select_views(problem, size=1).views == (1,)


def test_documents_that_reach_a_server_count_and_not_servers() -> None:
    instance = Instance(("/a", "/b"), (frozenset({0}), frozenset({1}), frozenset({1})), (10.0, 1.0, 1.0))

    assert select_greedy(instance, 1) == (1,)
    assert select_views(problem_of(instance), 1).views == (0,)


@pytest.mark.timed
@pytest.mark.slow
def test_ten_thousand_servers_and_thirty_views_take_seconds() -> None:
    rng = np.random.default_rng(6)
    share = 1 / np.arange(1, 31)
    share /= share.sum()
    servers = []
    for _ in range(10_000):
        queries = tuple(
            tuple(Conjunct(int(each), round(float(rng.uniform(0.05, 0.9)), 1)) for each in rng.choice(30, 2, p=share))
            for _ in range(rng.integers(1, 4))
        )
        servers.append(ServerLoad(queries))
    views = tuple(CandidateView(f"/e{at}", 2.5) for at in range(30))
    services = tuple(Service(at, (at,), 0.01) for at in range(30))
    began = process_time()

    chosen = select_views(Problem(tuple(servers), views, services, 1.0), size=15, evaluations=3_000)

    assert len(chosen.views) == 15
    assert process_time() - began < 60


@pytest.mark.timed
@pytest.mark.slow
def test_very_many_views_are_bounded_by_the_evaluations() -> None:
    rng = np.random.default_rng(7)
    servers = tuple(frozenset(each) for each in rng.integers(0, 600, (3_000, 3)).tolist())
    instance = Instance(tuple(map(str, range(600))), servers)
    began = process_time()

    chosen = select_views(problem_of(instance), 300, evaluations=2_000)

    assert len(chosen.views) <= 300
    assert chosen.hits >= hits(instance, select_greedy(instance, 300))
    assert process_time() - began < 60


def test_nothing_asked_and_nothing_to_choose_from() -> None:
    assert select_views(Problem((), (), (), 1.0)).views == ()
    assert select_views(Problem((ServerLoad((single(0),)),), (), (), 1.0)).cost == 1.0
    assert select_views(Problem((), (CandidateView("/a", 2.0),), (Service(0, (0,), 1.0),), 1.0)).cost == 0.0


def test_a_budget_below_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="a budget from 0 on"):
        select_views(Problem((), (), (), 1.0), size=-1)
