"""The exact optimum: what integer programming finds is what trying all choices finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from profiles import examples
from weft.errors import ConfigurationError
from weft.headers.selection import Instance, hits, optimum, select_greedy
from weft.headers.selection.optimum import select_optimum


@st.composite
def weighted_instances(draw: DrawFn) -> Instance:
    number = draw(st.integers(1, 7))
    servers = draw(st.lists(st.frozensets(st.integers(0, number - 1), max_size=4), max_size=10))
    weights = draw(st.none() | st.lists(st.integers(0, 9), min_size=len(servers), max_size=len(servers)))
    return Instance(tuple(f"/e{at}" for at in range(number)), tuple(servers), tuple(map(float, weights or ())))


def most_hits(instance: Instance, size: int) -> float:
    numbers = range(len(instance.expressions))
    return max(hits(instance, chosen) for chosen in combinations(numbers, min(size, len(numbers))))


@given(weighted_instances(), st.integers(0, 8))
@examples(150)
def test_the_optimum_is_the_best_of_all_choices(instance: Instance, size: int) -> None:
    found = select_optimum(instance, size)

    assert found.is_proven
    assert len(found.chosen) <= size
    assert found.hits == hits(instance, found.chosen) == pytest.approx(most_hits(instance, size))
    assert found.bound == pytest.approx(found.hits)


def test_greedy_may_be_worse() -> None:
    """Discarding the rarest first takes a group apart: 0 is the rarest, and yet in what is asked for most."""
    servers = [{0, 1}] * 4 + [{2}] * 3 + [{2, 3}] * 2 + [{3, 4}] * 3 + [{4}] * 2
    instance = Instance(tuple("abcde"), tuple(map(frozenset, servers)))

    best = max(range(1, 5), key=lambda size: select_optimum(instance, size).hits - greedy_hits(instance, size))

    assert select_optimum(instance, best).hits > greedy_hits(instance, best)


def greedy_hits(instance: Instance, size: int) -> float:
    return hits(instance, select_greedy(instance, size))


@pytest.mark.slow
def test_thirty_expressions_and_ten_thousand_servers_are_solved() -> None:
    rng = np.random.default_rng(3)
    share = 1 / np.arange(1, 31)
    drawn = [rng.choice(30, size=rng.integers(1, 6), p=share / share.sum()) for _ in range(10_000)]
    instance = Instance(tuple(map(str, range(30))), tuple(frozenset(each.tolist()) for each in drawn))

    found = select_optimum(instance, 15, seconds=120)

    assert found.is_proven
    assert found.hits >= greedy_hits(instance, 15)


def test_what_is_not_proven_in_time_says_so() -> None:
    rng = np.random.default_rng(4)
    servers = tuple(frozenset(rng.choice(120, size=6, replace=False).tolist()) for _ in range(600))
    instance = Instance(tuple(map(str, range(120))), servers)

    found = select_optimum(instance, 60, seconds=0.05)

    assert not found.is_proven
    assert found.hits == hits(instance, found.chosen) <= found.bound
    assert len(found.chosen) <= 60


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimum, "milp", None)

    with pytest.raises(ConfigurationError, match=r"pip install 'weft\[optimum\]'"):
        select_optimum(Instance(("/a",), (frozenset({0}),)), 1)
