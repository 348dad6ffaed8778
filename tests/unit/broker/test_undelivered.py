"""What is kept of a message that was not taken is its text, so much of it as may be remembered."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import weft
from weft.broker import published, undelivered
from weft.broker.courier import Undelivered
from weft.broker.undelivered import UndeliveredMessages
from weft.documents.table import NodeTable
from weft.engine.messages.texts import Texts


def fail(_: weft.Message) -> None:
    raise OSError("no room")


def failed(name: str, text: str) -> Undelivered:
    return Undelivered(weft.Message(name, "d", (text,)), OSError("no room"), fail)


def alive(kind: type) -> list[Any]:
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, kind)]


def test_a_message_that_was_not_taken_lets_its_batch_go() -> None:
    before = len(alive(Texts))
    broker = weft.Broker()
    broker.subscribe("//a", id="nodes", to=fail)
    broker.subscribe("<m>{ for $a in //a return <i>{ count($a) }</i> }</m>", id="made", to=fail)

    broker.publish(["<r><a>1</a></r>"] * 3)

    assert len(alive(Texts)) == before
    assert [each.message.nodes for each in broker.undelivered] == [("<a>1</a>",), ("<m><i>1</i></m>",)] * 3


def test_the_latest_are_kept_and_no_more_bytes_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undelivered, "_KEPT", 4)
    monkeypatch.setattr(undelivered, "_KEPT_BYTES", 10_000)
    kept = UndeliveredMessages()

    def names() -> list[str]:
        return [each.message.subscription for each in kept]

    kept.add([failed(str(at), "x") for at in range(6)])
    assert names() == ["2", "3", "4", "5"]
    kept.add([failed("large", "x" * 9_800)])
    assert names() == ["3", "4", "5", "large"]
    kept.add([failed("6", "x" * 500)])
    assert names() == ["6"]
    kept.add([failed("7", "x" * 20_000)])
    assert names() == ["7"]
    kept.add([failed("8", "x")])
    assert names() == ["8"]
    assert [each.message.subscription for each in kept.take()] == ["8"]
    assert len(kept) == 0


def test_of_what_cannot_be_kept_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undelivered, "_KEPT_BYTES", 10_000)
    written: list[str] = []

    class Nodes:
        def __init__(self, name: str) -> None:
            self._name = name

        def __iter__(self) -> Any:
            written.append(self._name)
            return iter(["x" * 6_000])

    kept = UndeliveredMessages()
    kept.add([Undelivered(weft.Message(str(at), "d", Nodes(str(at))), OSError(), fail) for at in range(5)])

    assert written == ["4", "3"]
    assert [each.message.subscription for each in kept] == ["4"]


def test_what_is_published_holds_no_node_tables() -> None:
    broker = weft.Broker()
    broker.subscribe("//a", id="nodes")
    broker.subscribe("//@k", id="attributes")
    broker.subscribe("<m>{ for $a in //a return <i>{ $a, $a/text() }</i> }</m>", id="made")
    broker.subscribe("<m>{ for $a in //a order by $a/@k descending, $a return <i>{ $a }</i> }</m>", id="ordered")
    tables = {id(table) for table in alive(NodeTable)}
    documents = [f"<r><a k='{at % 3}'>{at}<b/></a><a k='{at % 2}'/></r>" for at in range(200)]

    found = broker.publish(documents)
    before = [broker.publish(document) for document in documents]

    assert {id(table) for table in alive(NodeTable)} <= tables
    assert [(each.subscription, each.text) for each in found] == [
        (each.subscription, each.text) for one in before for each in one
    ]


def test_destinations_get_portions_whose_texts_can_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "_HEAVY", 3_000)
    monkeypatch.setattr(published, "_AT_ONCE", 10)
    taken: list[str] = []
    broker = weft.Broker()
    broker.subscribe("//a", id="large", to=lambda message: taken.append(message.text))
    for at in range(25):
        broker.subscribe("//b", id=f"small {at}", to=lambda message: taken.append(message.text))
    large = "<a>" + "x" * 1_000 + "</a>"

    found = broker.publish([f"<r>{large}<b/></r>"] * 8)

    assert taken == [message.text for message in found]
    sizes = [[len(message.text) for message, _ in portion] for portion in found.portions()]
    assert sum(map(len, sizes)) == 8 * 26
    assert max(map(len, sizes)) == 10
    assert max(map(sum, sizes)) <= 4_100
