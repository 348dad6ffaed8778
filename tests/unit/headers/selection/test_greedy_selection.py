"""Algorithm 1: what is chosen is what the paper's lines choose, written here once more as they stand."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from weft.errors import ConfigurationError
from weft.headers.selection import Instance, discard_order, hits, select_greedy


def algorithm_1(instance: Instance, size: int) -> tuple[int, ...]:
    """The paper's lines, one by one."""
    expressions = set(range(len(instance.expressions)))
    servers_of = {
        expression: {number for number, server in enumerate(instance.servers) if expression in server}
        for expression in expressions
    }
    for _ in range(len(instance.expressions) - size):
        least = min(sorted(expressions), key=lambda expression: len(servers_of[expression]))
        expressions -= {least}
        for expression in expressions:
            servers_of[expression] = servers_of[expression] - servers_of[least]
    return tuple(sorted(expressions))


@st.composite
def instances(draw: DrawFn) -> Instance:
    number = draw(st.integers(1, 8))
    servers = draw(st.lists(st.frozensets(st.integers(0, number - 1), max_size=4), max_size=12))
    return Instance(tuple(f"/e{at}" for at in range(number)), tuple(servers))


@given(instances(), st.integers(0, 9))
def test_greedy_follows_algorithm_1_line_by_line(instance: Instance, size: int) -> None:
    assert select_greedy(instance, size) == algorithm_1(instance, min(size, len(instance.expressions)))


@given(instances())
def test_a_smaller_choice_is_part_of_a_larger_one(instance: Instance) -> None:
    order = discard_order(instance)

    assert sorted(order) == list(range(len(instance.expressions)))
    for size in range(len(order) + 1):
        assert select_greedy(instance, size) == tuple(sorted(order[len(order) - size :]))


def test_of_equals_the_first_is_discarded() -> None:
    instance = Instance(("/a", "/b", "/c"), (frozenset({0}), frozenset({1}), frozenset({2})))

    assert discard_order(instance) == (0, 1, 2)


def test_the_servers_of_what_is_discarded_count_no_more() -> None:
    """`/b` is needed by three servers, but two of them are lost with `/a`."""
    servers = ({0, 1}, {0, 1}, {1}, {2}, {2}, {2}, {3}, {3}, {3})
    instance = Instance(("/a", "/b", "/c", "/d"), tuple(map(frozenset, servers)))

    assert discard_order(instance, 2) == (0, 1)


def test_weights_are_for_hits_and_not_for_algorithm_1() -> None:
    servers = (frozenset({0}), frozenset({1}), frozenset({1}))
    instance = Instance(("/a", "/b"), servers, (10.0, 1.0, 1.0))

    assert select_greedy(instance, 1) == (1,)
    assert hits(instance, (1,)) == 2.0
    assert hits(instance, {0, 1}) == 12.0
    assert hits(instance, ()) == 0.0


def test_a_server_that_asks_nothing_is_always_a_hit() -> None:
    assert hits(Instance(("/a",), (frozenset(), frozenset({0}))), ()) == 1.0


def test_a_wrong_instance_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="a weight for each of 1 servers, found 2"):
        Instance(("/a",), (frozenset({0}),), (1.0, 2.0))
    with pytest.raises(ConfigurationError, match="expressions from 0 to 0"):
        Instance(("/a",), (frozenset({1}),))


@pytest.mark.timed
def test_many_servers_and_expressions_take_little_time() -> None:
    rng = np.random.default_rng(1)
    needed = rng.integers(0, 1_000, (100_000, 3))
    instance = Instance(tuple(map(str, range(1_000))), tuple(map(frozenset, needed.tolist())))
    began = process_time()

    chosen = select_greedy(instance, 500)

    assert len(chosen) == 500
    assert process_time() - began < 10
