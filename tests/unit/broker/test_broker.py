"""The broker: subscriptions come and go, documents are matched, messages delivered."""

from unittest.mock import patch

import pytest

from weft import Broker, ConfigurationError, Document, Message, QueryError
from weft.broker import matcher


def test_ids_are_given_or_numbered() -> None:
    broker = Broker()

    ids = [broker.subscribe("/a"), broker.subscribe("/a", id="mine"), broker.subscribe("/b")]

    assert ids == ["1", "mine", "3"]
    assert len(broker) == 3
    assert "mine" in broker


def test_a_taken_id_is_refused_and_changes_nothing() -> None:
    broker = Broker()
    broker.subscribe("/a", id="x")

    with pytest.raises(ConfigurationError, match="'x' is there already"):
        broker.subscribe("/b", id="x")

    assert broker.matches("<b/>") == [[]]


def test_a_bad_query_never_enters() -> None:
    broker = Broker()
    broker.subscribe("/a", id="good")

    with pytest.raises(QueryError):
        broker.subscribe("/a[", id="bad")

    assert broker.matches("<a/>") == [["good"]]
    assert "bad" not in broker


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected one of"):
        Broker().subscribe("/a", language="cobol")


def test_unsubscribing_what_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Broker().unsubscribe("nobody")


def test_matches_come_in_the_order_of_subscribing() -> None:
    broker = Broker()
    for name, query in {"z": "//b", "a": "/a", "m": "/a[b]", "k": "//b | /a", "c": "/a except /b"}.items():
        broker.subscribe(query, id=name)

    assert broker.matches("<a><b/></a>") == [["z", "a", "m", "k", "c"]]


def test_what_is_added_and_removed_between_batches_is_seen_by_the_next_batch() -> None:
    broker = Broker()
    broker.subscribe("/a", id="1")

    seen = [broker.matches("<a/>")[0]]
    broker.subscribe("//a", id="2")
    broker.subscribe("/a", id="3")
    seen.append(broker.matches("<a/>")[0])
    broker.unsubscribe("1")
    seen.append(broker.matches("<a/>")[0])
    broker.unsubscribe("3")
    seen.append(broker.matches("<a/>")[0])

    assert seen == [["1"], ["1", "2", "3"], ["2", "3"], ["2"]]


def test_messages_are_delivered_by_document_then_subscription() -> None:
    received: list[Message] = []
    broker = Broker()
    broker.subscribe("//b/text()", id="texts", to=received.append)
    broker.subscribe("//b/@x", id="attributes", to=received.append)
    broker.subscribe("//b", id="elsewhere")

    returned = broker.publish(
        [Document("<a><b x='1'>t&amp;t</b><b>u</b></a>", id="d1"), Document("<b x='&lt;'/>", id="d2")]
    )

    assert received == [
        Message("texts", "d1", ("t&t", "u")),
        Message("attributes", "d1", ('x="1"',)),
        Message("attributes", "d2", ('x="&lt;"',)),
    ]
    assert [message.subscription for message in returned] == [
        "texts",
        "attributes",
        "elsewhere",
        "attributes",
        "elsewhere",
    ]


def test_a_destination_may_subscribe_publish_and_unsubscribe() -> None:
    broker = Broker()
    received: list[str] = []

    def first(message: Message) -> None:
        received.append(message.subscription)
        if "late" not in broker:
            broker.subscribe("/b", id="late", to=lambda late: received.append(late.subscription))
            broker.publish("<b/>")
            broker.unsubscribe("first")

    broker.subscribe("/a", id="first", to=first)
    broker.publish("<a/>")
    broker.publish("<a/>")

    assert received == ["first", "late"]


def test_a_rejected_document_has_an_empty_place_among_the_others() -> None:
    broker = Broker()
    broker.subscribe("/a", id="1")

    found = broker.matches(["<a/>", "<a>", b"", "<a/>", "text"])

    assert found == [["1"], [], [], ["1"], []]
    assert [error.line for error in broker.rejected] == [1, 1, 1]


def test_a_closed_broker_has_forgotten_its_subscriptions() -> None:
    with Broker() as broker:
        broker.subscribe("/a")

    assert len(broker) == 0
    assert broker.matches("<a/>") == [[]]


def test_batches_larger_than_a_chunk_keep_their_order() -> None:
    broker = Broker()
    for number in range(7):
        broker.subscribe(f"/a[@m = {number}]", id=str(number))

    found = broker.matches(f"<a m='{number % 7}'/>" for number in range(200))

    assert found == [[str(number % 7)] for number in range(200)]


def test_an_empty_batch_gives_nothing() -> None:
    broker = Broker()
    broker.subscribe("/a[b = 'x']")

    assert broker.matches([]) == []
    assert broker.publish([]) == []
    assert broker.publish(["<"]) == []


def test_a_document_must_be_bytes_or_text() -> None:
    with pytest.raises(TypeError, match="bytes or str"):
        Broker().publish([Document(12)])  # type: ignore[arg-type]


def test_explain_tells_the_shared_plan_and_one_subscription() -> None:
    broker = Broker()
    for number in range(3):
        broker.subscribe(f"/a[b = 'v{number}']/c", id=f"t{number}")
    broker.subscribe("/a/b", id="p1")
    broker.subscribe("/a/b", id="p2")
    broker.matches("<a><b>v1</b><c/></a>")

    everything, one, shared = broker.explain(), broker.explain("t1"), broker.explain("p2")

    assert "5 subscriptions" in everything
    assert "label paths" in everything
    assert "/a/b" in everything
    assert 'value = "v1"' in one
    assert "3 subscriptions with this plan" in one
    assert "2 subscriptions" in shared


def test_many_removals_do_not_leave_the_broker_grown() -> None:
    broker = Broker()
    broker.subscribe("/keep[@x = '1']", id="keep")

    with patch.object(matcher, "_SWEEP", 1_000):
        for number in range(2_500):
            broker.subscribe(f"/a/b{number}", id="passing")
            broker.unsubscribe("passing")

    assert broker._matcher.engine.dead <= 1_010
    assert broker.matches("<keep x='1'/>") == [["keep"]]
