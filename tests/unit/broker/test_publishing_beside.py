"""Threads publish beside each other: what is matched at once is delivered one batch after the other."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import weft
from oracle import table_of
from weft.broker import publisher
from weft.broker.change_lock import ChangeLock
from weft.engine.deliveries import deliveries
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.evaluation.thorough import NotBesideError
from weft.kernel.row_heap import TooMuchError

SECONDS = 30


def two_places(broker: weft.Broker) -> weft.Broker:
    broker._changing = ChangeLock(2)  # whatever the machine has
    return broker


def test_two_publishers_match_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    broker, taken = two_places(weft.Broker()), []
    broker.subscribe("//b[@k]", id="all", to=lambda message: taken.append(message.document))
    broker.publish("<a/>")
    both = threading.Barrier(2)

    def met(*given: Any) -> Any:
        both.wait(SECONDS)  # broken unless the other one comes here too
        return deliveries(*given)

    monkeypatch.setattr(publisher, "deliveries", met)
    found: dict[int, weft.Published] = {}

    def publish(at: int) -> None:
        documents = [weft.Document(f"<a><b k='{at}'/></a>", id=f"{at}/{number}") for number in range(5)]
        found[at] = broker.publish(documents)

    threads = [threading.Thread(target=publish, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)

    assert not both.broken
    assert {at: [message.text for message in some] for at, some in found.items()} == {
        at: [f"<b k='{at}'/>"] * 5 for at in range(2)
    }
    first, second = (taken[:5], taken[5:])
    assert sorted([first, second]) == [[f"{at}/{number}" for number in range(5)] for at in range(2)]


def test_what_fails_beside_others_is_answered_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = two_places(weft.Broker())
    broker.subscribe("//b", id="all")
    documents = [weft.Document(text, id=text) for text in ("<b/>", "<", "<a><b/></a>")]
    expected = list(broker.publish(documents))

    def failing(*_: object) -> object:
        raise NotBesideError

    monkeypatch.setattr(publisher, "deliveries", failing)

    assert broker.publish(documents) == expected
    assert len(broker.rejected) == 2


def test_a_batch_that_is_done_thoroughly_is_done_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = two_places(weft.Broker())
    broker.subscribe("//a[.//b]", id="nodes")
    broker.subscribe("<m>{ for $a in //a, $b in $a/a where $b//b return <i>{ $b }</i> }</m>", id="built")
    document = weft.Document("<a><a><b/></a></a>", id="d")
    expected = list(broker.publish(document))
    asked: list[object] = []

    def too_much(*given: object) -> object:
        asked.append(given)
        raise TooMuchError

    monkeypatch.setattr(Evaluation, "_rise", too_much)

    assert broker.publish(document) == expected
    assert [message.subscription for message in expected] == ["nodes", "built"]
    assert len(asked) == 2  # beside others, then alone
    with pytest.raises(NotBesideError):
        broker._matcher.engine.match(table_of([document.data]), place=0)


def test_joins_are_published_one_batch_at_a_time() -> None:
    broker = two_places(weft.Broker())
    broker.subscribe("S//a->x FOLLOWED BY{x=y, 100 seconds} S//b->y", id="joined", language="xscl")
    broker.publish(weft.Document("<a>1</a>", id="1", stream="S", timestamp=1))

    assert broker._publisher.messages_beside_others([weft.Document("<b>1</b>", id="2")], 0) is None
