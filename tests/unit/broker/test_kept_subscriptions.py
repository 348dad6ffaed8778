"""Subscriptions come back as they were given, whatever of them is kept."""

import gc

import pytest

from weft.broker.kept_subscriptions import KeptSubscriptions
from weft.broker.subscriptions import Subscription

GIVEN = (
    Subscription("a", "//a"),
    Subscription("b", "//b", "xpath"),
    Subscription("c", "//p:c", namespaces={"p": "urn:p"}),
    Subscription("d", "//d", to="out"),
    Subscription("e", "//e", enabled=False),
    Subscription("f", "//f", ignore_namespaces=True),
    Subscription("g", "//g", place="file:7"),
)


def test_all_come_back_in_order() -> None:
    kept = KeptSubscriptions(lambda number: GIVEN[number].id)
    kept.update(enumerate(GIVEN))

    assert list(kept.items()) == list(enumerate(GIVEN))
    assert len(kept) == len(GIVEN)


def test_what_is_deleted_is_gone() -> None:
    kept = KeptSubscriptions(lambda number: GIVEN[number].id)
    kept.update(enumerate(GIVEN))

    del kept[0], kept[3]

    assert list(kept) == [1, 2, 4, 5, 6]
    for number in (0, 3):
        with pytest.raises(KeyError):
            kept[number]


@pytest.mark.slow
def test_plain_ones_are_nothing_to_the_garbage_collector() -> None:
    kept = KeptSubscriptions(str)
    gc.collect()
    before = len(gc.get_objects())

    kept.update((number, Subscription(str(number), f"//a{number}")) for number in range(1_000))
    gc.collect()

    assert len(gc.get_objects()) < before + 100
