"""What `publish` gives back: a sequence that compares like a list, whose messages are made when they are read."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest

import weft

DOCUMENTS = ["<r><a>1</a><a/></r>", "<b/>", "<a>2</a>"]


def published(**to: Callable[[weft.Message], object]) -> weft.Published:
    broker = weft.Broker()
    broker.subscribe("//a", id="nodes", to=to.get("nodes"))
    broker.subscribe("<m>{ for $a in //a return <i>{ $a }</i> }</m>", id="made", to=to.get("made"))
    return broker.publish([weft.Document(text, id=f"d{at}") for at, text in enumerate(DOCUMENTS)])


def test_it_has_the_messages_by_document_then_subscription() -> None:
    found = published()

    assert [(each.document, each.subscription, each.nodes) for each in found] == [
        ("d0", "nodes", ("<a>1</a>", "<a/>")),
        ("d0", "made", ("<m><i><a>1</a></i><i><a/></i></m>",)),
        ("d2", "nodes", ("<a>2</a>",)),
        ("d2", "made", ("<m><i><a>2</a></i></m>",)),
    ]


def test_it_is_read_as_a_list_is() -> None:
    found = published()
    listed = list(found)

    assert found == listed
    assert listed == found
    assert found == published()
    assert found != listed[:-1]
    assert (len(found), found[1], found[-1], found[1:3]) == (4, listed[1], listed[3], listed[1:3])
    assert found + listed == listed + found == [*listed, *listed]
    assert repr(found) == repr(listed)
    assert not weft.Broker().publish("<a/>")
    with pytest.raises(IndexError):
        found[4]


def test_only_destinations_get_messages_and_in_their_order() -> None:
    taken: list[weft.Message] = []

    found = published(made=taken.append)

    assert taken == [found[1], found[3]]


def test_a_message_is_a_value() -> None:
    message = published()[0]

    assert message == weft.Message("nodes", "d0", ("<a>1</a>", "<a/>"))
    assert hash(message) == hash(pickle.loads(pickle.dumps(message)))
    assert message.text == "<a>1</a>\n<a/>"
    assert message != "nodes"
    with pytest.raises(FrozenInstanceError):
        message.document = "other"


def test_messages_outlast_the_subscriptions_and_batches_that_they_come_from() -> None:
    broker = weft.Broker()
    broker.subscribe("<m>{ for $a in //a order by $a return <i>{ $a }</i> }</m>", id="made")
    first = broker.publish("<r><a>2</a><a>1</a></r>")

    broker.unsubscribe("made")
    for number in range(40):
        broker.subscribe(f"<m{number}>{{ for $a in //a return $a }}</m{number}>", id="made")
        broker.publish("<a>3</a>")
        broker.unsubscribe("made")

    assert [(each.subscription, each.text) for each in first] == [("made", "<m><i><a>1</a></i><i><a>2</a></i></m>")]
