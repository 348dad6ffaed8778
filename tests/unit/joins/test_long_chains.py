"""Long chains, of blocks and of queries that read each other's messages, cost what their length says."""

from __future__ import annotations

import time

import pytest

from weft import Broker, Document, Limits
from weft.errors import ConfigurationError
from weft.joins.compile.streams import PublishedStreams


@pytest.mark.slow
def test_messages_of_messages_go_on_however_many_removes_there_are() -> None:
    broker, removes = Broker(), 600
    for at in range(removes):
        broker.subscribe(f"T{at}/a PUBLISH T{at + 1}", id=str(at), language="xscl")

    messages = broker.publish(Document("<a/>", "first", "T0", 1))

    assert broker.refused == ()
    assert [message.subscription for message in messages] == [str(at) for at in range(removes)]
    assert messages[removes - 1].document == f"T{removes - 1}-{removes - 1}"


def test_each_message_is_followed_by_what_comes_of_it_before_the_next() -> None:
    broker = Broker()
    broker.subscribe("S/a/b PUBLISH T", id="parts", language="xscl")
    broker.subscribe("T/b PUBLISH U", id="again", language="xscl")
    broker.subscribe("U->x", id="last")

    broker.publish(Document("<a><b>1</b><b>2</b></a>", "d", "S", 1))

    history = broker._matcher.joins.state.history.columns()
    assert (history["T"][0], history["U"][0]) == ([1, 3], [2, 4])


def chain(blocks: int) -> str:
    joined = "".join(f" JOIN{{x{at - 1} = x{at}, 1 day}} S/a->x{at}" for at in range(1, blocks))
    return f"S/a->x0{joined}"


@pytest.mark.timed
@pytest.mark.slow
def test_a_long_chain_of_blocks_costs_a_document_little() -> None:
    broker = Broker(limits=Limits(max_query_nesting=400))
    broker.subscribe(chain(400), id="chain")
    broker.subscribe("S/a->x JOIN{x = y, 1 day} S/a->y", id="pair")
    start = time.process_time()

    messages = broker.publish([Document("<a>1</a>", f"a{at}", "S", at) for at in range(2)])

    assert time.process_time() - start < 2
    assert sorted(message.subscription for message in messages) == ["chain"] * 2 + ["pair"] * 2


@pytest.mark.timed
def test_what_all_blocks_of_a_chain_try_for_a_document_is_counted_together() -> None:
    broker = Broker(limits=Limits(max_joined=10))
    broker.subscribe(chain(40), id="chain")
    documents = [Document("<a>1</a>", f"a{at}", "S", at) for at in range(3)]
    start = time.process_time()

    broker.publish(documents)

    assert time.process_time() - start < 4
    assert {error.subscription for error in broker.refused} == {"chain"}


def test_a_chain_with_too_many_blocks_is_refused_when_it_is_subscribed() -> None:
    broker = Broker()

    with pytest.raises(ConfigurationError, match="XSCL: expected at most 50 blocks, found 51"):
        broker.subscribe(chain(51))

    assert broker.subscribe(chain(50), id="taken") == "taken"


@pytest.mark.timed
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
