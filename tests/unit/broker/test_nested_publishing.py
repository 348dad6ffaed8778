"""Destinations that publish themselves: each message has a call of its own, and none is lost."""

from __future__ import annotations

import threading
from pathlib import Path

from weft import Broker, Document, Message


def test_a_destination_that_blocks_costs_neither_who_published_nor_the_others() -> None:
    broker, got, forever = Broker(destination_seconds=0.3), list[str](), threading.Event()
    broker.subscribe("//a", id="forwards", to=lambda _: broker.publish(Document("<b/>", id="fwd")))
    broker.subscribe("//b", id="blocks", to=lambda _: forever.wait())
    broker.subscribe("//b", id="innocent", to=lambda message: got.append(message.document))

    broker.publish(Document("<a/>", id="a0"))
    broker.publish(Document("<a/>", id="a1"))
    forever.set()

    assert got == ["fwd", "fwd"]
    assert [(each.message.subscription, each.message.document) for each in broker.undelivered] == [
        ("blocks", "fwd")
    ] * 2


def test_what_a_destination_publishes_comes_right_behind_it_in_order() -> None:
    broker, got = Broker(), list[str]()

    def forward(message: Message) -> None:
        got.append(f"forward {message.document}")
        for number in (1, 2):
            broker.publish(Document("<b/>", id=f"{message.document}.{number}"))

    broker.subscribe("//a", id="forwards", to=forward)
    broker.subscribe("//a | //b", id="takes", to=lambda message: got.append(message.document))

    broker.publish([Document("<a/>", id="x"), Document("<a/>", id="y")])

    assert got == ["forward x", "x.1", "x.2", "x", "forward y", "y.1", "y.2", "y"]


def test_destinations_that_publish_for_each_other_come_to_an_end() -> None:
    broker, calls = Broker(), list[str]()

    def again(message: Message) -> None:
        calls.append(message.subscription)
        broker.publish("<a/>")

    broker.subscribe("//a", id="one", to=again)

    broker.publish("<a/>")

    assert len(calls) == 101
    assert "without end" in str(broker.undelivered[0].error)


def test_a_destination_may_write_a_checkpoint(tmp_path: Path) -> None:
    broker = Broker(destination_seconds=5)
    broker.subscribe("//a", id="saves", to=lambda _: broker.checkpoint(tmp_path / "joins"))

    broker.publish("<a/>")

    assert not broker.undelivered
    assert (tmp_path / "joins").exists()
