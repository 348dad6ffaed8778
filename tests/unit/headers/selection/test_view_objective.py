"""What a choice of views is expected to cost, against a reckoning that goes through all that may happen."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from weft.errors import ConfigurationError
from weft.headers.selection import CandidateView, Conjunct, Problem, ServerLoad, Service
from weft.headers.selection.objective import Objective

SHARES = st.sampled_from((0.0, 0.1, 0.5, 0.9, 1.0))


@st.composite
def one_query(draw: DrawFn) -> Problem:
    """A query of some conjuncts on different expressions, and a service for each that has costs and misses."""
    number = draw(st.integers(1, 4))
    query = tuple(Conjunct(at, draw(SHARES)) for at in range(number))
    services = tuple(Service(at, (at,), draw(st.sampled_from((0.0, 1.0, 2.0, 7.0))), draw(SHARES)) for at in range(4))
    views = tuple(CandidateView(f"/e{at}", 3.0) for at in range(4))
    return Problem((ServerLoad((query,)),), views, services, parse_cost=100.0)


def parse_chance(problem: Problem, chosen: frozenset[int]) -> float:
    """Over all ways in which conjuncts are true or false, and look-ups hit or miss."""
    (query,) = problem.servers[0].queries
    chance = 0.0
    for truths, found in product(product((True, False), repeat=len(query)), repeat=2):
        weight = 1.0
        for part, is_true, is_hit in zip(query, truths, found, strict=True):
            hit = problem.services[part.expression].hit if part.expression in chosen else 0.0
            share = part.selectivity if part.selectivity is not None else 1.0
            weight *= (share if is_true else 1 - share) * (hit if is_hit else 1 - hit)
        is_false = any(is_hit and not is_true for is_true, is_hit in zip(truths, found, strict=True))
        chance += weight * (not is_false and not all(found))
    return chance


def least_look_ups(problem: Problem, chosen: frozenset[int]) -> float:
    """Over all orders of the conjuncts that are served."""
    (query,) = problem.servers[0].queries
    served = [part for part in query if part.expression in chosen]

    def expected(order: tuple[Conjunct, ...]) -> float:
        cost, going_on = 0.0, 1.0
        for part in order:
            service = problem.services[part.expression]
            cost += going_on * service.cost
            going_on *= 1 - service.hit * (1 - (1.0 if part.selectivity is None else part.selectivity))
        return cost

    return min(map(expected, permutations(served)))


@given(one_query(), st.frozensets(st.integers(0, 3)))
def test_a_query_costs_its_best_order_and_the_parses_that_are_left(problem: Problem, chosen: frozenset[int]) -> None:
    chance, look_ups = parse_chance(problem, chosen), least_look_ups(problem, chosen)
    objective = Objective(problem)

    assert objective.cost(chosen) == pytest.approx(min(100.0, look_ups + 100.0 * chance))
    assert objective.hits(chosen) == pytest.approx(1 - chance)


def load(*queries: tuple[Conjunct, ...], weight: float = 1.0) -> ServerLoad:
    return ServerLoad(queries, weight)


def exact(number: int, hit: float = 1.0) -> Service:
    return Service(number, (number,), 1.0, hit)


VIEWS = tuple(CandidateView(f"/e{at}", 2.0) for at in range(3))


def test_servers_parse_unless_all_their_queries_are_known() -> None:
    servers = (load((Conjunct(0),), (Conjunct(1),), weight=3), load((Conjunct(0),)), load(weight=9))
    objective = Objective(Problem(servers, VIEWS, tuple(map(exact, range(3))), parse_cost=10.0))

    assert objective.cost(()) == 40.0
    assert objective.cost([0]) == 31.0  # the heavy server does not even look
    assert objective.cost([0, 1]) == 3 * 2.0 + 1.0
    assert objective.hits([0]) == 1.0
    assert objective.total == 4.0


def test_a_conjunct_that_is_false_saves_the_parse_for_one_that_no_view_serves() -> None:
    selective = (Conjunct(0, 0.1), Conjunct(1, 0.5))
    objective = Objective(Problem((load(selective),), VIEWS, tuple(map(exact, range(3))), parse_cost=10.0))

    assert objective.cost([0]) == pytest.approx(1.0 + 0.1 * 10.0)
    assert objective.cost([1]) == pytest.approx(1.0 + 0.5 * 10.0)
    assert objective.cost([0, 1]) == pytest.approx(1.0 + 0.1 * 1.0)


def test_an_unknown_selectivity_saves_nothing() -> None:
    objective = Objective(
        Problem((load((Conjunct(0), Conjunct(1))),), VIEWS, tuple(map(exact, range(3))), parse_cost=10.0)
    )

    assert objective.cost([0]) == 10.0


def test_an_expression_that_several_queries_ask_for_is_looked_up_once() -> None:
    servers = (load((Conjunct(0, 1.0), Conjunct(1, 1.0)), (Conjunct(0, 0.9), Conjunct(2, 1.0)), (Conjunct(0),)),)
    objective = Objective(Problem(servers, VIEWS, tuple(map(exact, range(3))), parse_cost=10.0))

    assert objective.cost([0, 1, 2]) == 3.0


def test_the_best_service_that_the_views_allow_is_used() -> None:
    """An ancestor's view serves both, dearly; two positional views together, most of the time."""
    views = (*VIEWS, CandidateView("/e1[1]", 2.0), CandidateView("/e1[2]", 2.0))
    services = (exact(0), Service(0, (2,), 4.0), Service(1, (2,), 4.0), Service(1, (3, 4), 1.0, hit=0.9))
    objective = Objective(Problem((load((Conjunct(0),)), load((Conjunct(1),))), views, services, parse_cost=10.0))

    assert objective.cost([2]) == 8.0
    assert objective.cost([0, 2]) == 5.0
    assert objective.cost([3]) == 20.0
    assert objective.cost([3, 4]) == pytest.approx(10.0 + 1.0 + 0.1 * 10)
    assert objective.cost([0, 2, 3, 4]) == pytest.approx(1.0 + 1.0 + 0.1 * 10)


def test_bytes_are_paid_on_every_link_for_every_document() -> None:
    problem = Problem((load((Conjunct(0),)),), VIEWS, (exact(0),), 10.0, byte_cost=0.5, links=3, documents=2)

    assert Objective(problem).cost([0]) == 1.0 + 2.0 * 0.5 * 3 * 2


def test_a_wrong_service_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="services by views from 0 to 2"):
        Problem((), VIEWS, (Service(0, (3,), 1.0),), 1.0)
    with pytest.raises(ConfigurationError, match="a hit rate from 0 to 1"):
        Problem((), VIEWS, (Service(0, (0,), 1.0, hit=1.5),), 1.0)


@given(one_query(), st.frozensets(st.integers(0, 3)), st.permutations(range(3)))
def test_equal_servers_cost_what_one_of_their_weight_costs(
    problem: Problem, chosen: frozenset[int], weights: list[int]
) -> None:
    (query,) = problem.servers[0].queries
    several = tuple(ServerLoad((query, query), float(weight)) for weight in weights)
    together = Problem(several, problem.views, problem.services, problem.parse_cost)

    assert Objective(together).cost(chosen) == pytest.approx(3 * Objective(problem).cost(chosen))
    assert Objective(together).weights.tolist() == [3.0]
