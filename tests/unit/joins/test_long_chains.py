"""Long chains, of blocks and of queries that read each other's messages, cost what their length says."""

from __future__ import annotations

import time

import pytest

from weft import Broker, Document
from weft.errors import ConfigurationError
from weft.joins.compile.streams import PublishedStreams


def test_messages_of_messages_go_on_however_many_removes_there_are() -> None:
    broker, removes = Broker(), 400
    for at in range(removes):
        broker.subscribe(f"T{at}/a PUBLISH T{at + 1}", id=str(at), language="xscl")

    messages = broker.publish([Document("<a/>", "first", "T0", 1), Document("<a/>", "second", "T0", 2)])

    assert broker.refused == ()
    assert [message.subscription for message in messages] == [str(at) for _ in range(2) for at in range(removes)]
    assert messages[removes - 1].document == f"T{removes - 1}-{removes - 1}"


def test_each_message_is_followed_by_what_comes_of_it_before_the_next() -> None:
    broker = Broker()
    broker.subscribe("S/a/b PUBLISH T", id="parts", language="xscl")
    broker.subscribe("T/b PUBLISH U", id="again", language="xscl")
    broker.subscribe("U->x", id="last")

    broker.publish(Document("<a><b>1</b><b>2</b></a>", "d", "S", 1))

    history = broker._matcher.joins.state.history.columns()
    assert (history["T"][0], history["U"][0]) == ([1, 3], [2, 4])


@pytest.mark.parametrize("order", [1, -1])
def test_a_circle_of_streams_is_looked_for_only_where_one_can_be(order: int) -> None:
    streams = PublishedStreams()
    start = time.process_time()

    for at in range(3_000)[::order]:
        streams.add(at, f"T{at + 1}", [f"T{at}"])

    assert time.process_time() - start < 1
    with pytest.raises(ConfigurationError, match="T0 <- T3000 <- T2999 <- "):
        streams.add(3_000, "T0", ["T3000"])
    streams.remove(1_500)
    streams.add(3_000, "T0", ["T3000"])
