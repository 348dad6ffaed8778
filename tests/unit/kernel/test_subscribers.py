"""Who wants which result, as subscriptions come and go."""

from __future__ import annotations

import pickle
from collections import defaultdict
from random import Random

import numpy as np

from weft.kernel.subscribers import Subscribers


def pairs_of(subscribers: Subscribers, results: list[int]) -> list[tuple[int, int]]:
    """(result, subscription) for each, in order."""
    at, subscription = subscribers.pairs(np.array(results, np.int32))
    return sorted((results[place], number) for place, number in zip(at.tolist(), subscription.tolist(), strict=True))


def test_what_was_added_and_not_removed_is_there() -> None:
    chance, subscribers = Random(3), Subscribers()
    wanted: defaultdict[int, set[int]] = defaultdict(set)
    for _ in range(50):
        subscribers.new()

    for number in range(2_000):
        result = chance.randrange(50)
        if wanted[result] and chance.random() < 0.5:
            gone = chance.choice(sorted(wanted[result]))
            wanted[result].remove(gone)
            assert subscribers.remove(result, gone) == (not wanted[result])
        else:
            wanted[result].add(number)
            subscribers.add(result, number)
        expected = sorted((each, subscription) for each in range(50) for subscription in wanted[each])
        if number % 100 == 0:
            assert pairs_of(subscribers, list(range(50))) == expected
            assert subscribers.sharing() == {each: len(some) for each, some in wanted.items() if len(some) > 1}

    assert pairs_of(pickle.loads(pickle.dumps(subscribers)), list(range(50))) == expected


def test_a_subscription_that_wants_two_results_is_told() -> None:
    subscribers = Subscribers()
    for _ in range(2):
        subscribers.new()

    subscribers.add(0, 7)
    assert not subscribers.is_wanted_twice
    subscribers.add(1, 7)

    assert subscribers.is_wanted_twice
    assert pickle.loads(pickle.dumps(subscribers)).is_wanted_twice
