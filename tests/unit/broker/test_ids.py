"""The ids of those that match a document: a sequence that compares like a list, in the order of subscription."""

import numpy as np
import pytest

from weft import Broker
from weft.broker.ids import Ids

NAMES = np.array(["a", "b", "c", "d"], object)


def test_ids_come_in_the_order_in_which_the_subscriptions_were_made() -> None:
    ids = Ids(np.array([3, 0, 2], np.int32), NAMES)

    assert ids.tolist() == list(ids) == ["a", "c", "d"]
    assert ids.numbers.tolist() == [0, 2, 3]
    assert (ids[0], ids[-1], ids[1:]) == ("a", "d", ["c", "d"])
    assert len(ids) == 3
    assert "c" in ids
    assert "b" not in ids
    assert repr(ids) == "['a', 'c', 'd']"


def test_ids_compare_like_a_list() -> None:
    ids = Ids(np.array([2, 1], np.int32), NAMES)

    assert ids == ["b", "c"]
    assert [ids] == [["b", "c"]]
    assert ids != ["c", "b"]
    assert ids != ["b"]
    assert ids != "bc"
    with pytest.raises(TypeError):
        hash(ids)


def test_ids_stay_what_they_were_when_subscriptions_go() -> None:
    broker = Broker()
    broker.subscribe("/a", id="first")
    broker.subscribe("/a[b = 1]", id="second")
    found = broker.matches("<a><b>1</b></a>")[0]

    broker.unsubscribe("first")
    for number in range(2000):
        broker.subscribe("/b", id=f"more {number}")

    assert found == ["first", "second"]
    assert broker.matches("<a><b>1</b></a>")[0] == ["second"]


def test_one_who_matches_in_two_ways_comes_once() -> None:
    broker = Broker()
    broker.subscribe("/a/b | /a/c | /a[b = 1]", id="union")
    broker.subscribe("/a/c", id="other")

    assert broker.matches("<a><b>1</b><c/></a>")[0] == ["union", "other"]
